/*
 * Copyright the DSTL authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.store.SegmentContent;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.core.fs.Path;

/** Counts segments that are retained because a thread is writing them, as a heap dump would. */
final class HeldSegments implements SegmentStore {

    private final SegmentStore store;

    /** Number of threads and bytes, by segment. */
    private final Map<String, long[]> held = new TreeMap<>();

    private long heldBytes;
    private long largestBytes;

    HeldSegments(SegmentStore store) {
        this.store = store;
    }

    long heldBytes() {
        return heldBytes;
    }

    /** Size of the largest segment so far. */
    long largestBytes() {
        return largestBytes;
    }

    @Override
    public Path locate(SegmentName name) throws IOException {
        return store.locate(name);
    }

    @Override
    public void write(Path file, SegmentContent content) throws IOException {
        String segment = FileHistory.segmentOf(file.getPath());
        long[] holders = held.computeIfAbsent(segment, key -> new long[] {0, content.length()});
        largestBytes = Math.max(largestBytes, content.length());
        if (holders[0]++ == 0) {
            heldBytes += holders[1];
        }
        try {
            store.write(file, content);
        } finally {
            if (--holders[0] == 0) {
                heldBytes -= holders[1];
                held.remove(segment);
            }
        }
    }

    @Override
    public void delete(Path file) throws IOException {
        store.delete(file);
    }

    @Override
    public void ping() throws IOException {
        store.ping();
    }
}
