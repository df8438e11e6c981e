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

import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.segment.ReadSession;
import dev.dstl.log.segment.SegmentCopy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/** A handle and the records that it must contain. Immutable. */
public final class LogHandle {

    private final ChangelogStateHandleStreamImpl handle;
    private final List<TestRecord> expected;
    @Nullable private Map<String, Long> fileSizes;

    LogHandle(ChangelogStateHandleStreamImpl handle, List<TestRecord> expected) {
        this.handle = handle;
        this.expected = expected;
    }

    ChangelogStateHandleStreamImpl handle() {
        return handle;
    }

    /** Part that a subtask with these key groups restores; null if there is none. */
    @Nullable
    LogHandle in(KeyGroupRange keyGroups) {
        ChangelogStateHandleStreamImpl part =
                (ChangelogStateHandleStreamImpl) handle.getIntersection(keyGroups);
        if (part == null) {
            return null;
        }
        List<TestRecord> records = new ArrayList<>();
        for (TestRecord record : expected) {
            if (record.keyGroup < 0 || part.getKeyGroupRange().contains(record.keyGroup)) {
                records.add(record);
            }
        }
        return new LogHandle(part, records);
    }

    /** Size of each file that the handle needs, without inline batches. */
    public Map<String, Long> fileSizes() {
        if (fileSizes == null) {
            fileSizes = fileSizes(false);
        }
        return fileSizes;
    }

    private Map<String, Long> fileSizes(boolean local) {
        Map<String, Long> sizes = new TreeMap<>();
        for (Tuple2<StreamStateHandle, Long> position : handle.getHandlesAndOffsets()) {
            StreamStateHandle segment = position.f0;
            if (local && segment instanceof SegmentCopy) {
                segment = ((SegmentCopy) segment).copy();
            }
            if (segment instanceof FileStateHandle) {
                FileStateHandle file = (FileStateHandle) segment;
                if (local == "file".equals(file.getFilePath().toUri().getScheme())) {
                    sizes.put(file.getFilePath().getPath(), file.getStateSize());
                }
            }
        }
        return sizes;
    }

    /** Local copies that the handle names. */
    public Set<String> localFiles() {
        return fileSizes(true).keySet();
    }

    /** Number of runs. */
    public int runs() {
        return handle.getHandlesAndOffsets().size();
    }

    /** Bytes of the frames. */
    public long bytes() {
        return handle.getStateSize();
    }

    /** Number of records written, obsolete ones included. */
    long records() {
        return expected.size();
    }

    /** Size of all records written. */
    long recordBytes() {
        return expected.stream()
                .mapToLong(record -> record.recordKey.length + record.payload.length)
                .sum();
    }

    /** Files that the handle needs. */
    public Set<String> files() {
        return fileSizes().keySet();
    }

    /**
     * Reads the records.
     *
     * @throws LogMismatch if something that may never be deduplicated away is not what was written
     */
    public List<TestRecord> read() throws IOException {
        ReadSession once = new ReadSession(1, 0, () -> 0, () -> {}, () -> {});
        try (RecordCursor cursor = new DstlHandleReader().open(handle, once)) {
            List<TestRecord> records = TestRecord.readAll(cursor);
            if (!metas(records).equals(metas(expected))) {
                throw new LogMismatch("META records " + metas(records), "" + metas(expected));
            }
            return records;
        }
    }

    private static List<TestRecord> metas(List<TestRecord> records) {
        List<TestRecord> metas = new ArrayList<>();
        for (TestRecord record : records) {
            if (record.kind == RecordKind.META) {
                metas.add(record);
            }
        }
        return metas;
    }
}
