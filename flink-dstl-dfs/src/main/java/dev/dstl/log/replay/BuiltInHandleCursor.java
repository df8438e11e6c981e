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

package dev.dstl.log.replay;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.util.IOUtils;

/**
 * Returns the state changes of a handle of Flink's storage {@code filesystem} as OPAQUE records,
 * which only the state backend can interpret. Records come in the order of the handle and for all
 * key groups, since timers may carry the wrong key group. One file is open at a time. Not
 * thread-safe.
 */
public final class BuiltInHandleCursor implements RecordCursor {

    /** Storage identifier of the handles that this class reads. */
    public static final String STORAGE_IDENTIFIER = "filesystem";

    private final Iterator<Tuple2<StreamStateHandle, Long>> positions;
    private StreamStateHandle openHandle;
    private BuiltInSegment segment;
    private int groupsLeft;
    private int changesLeft;
    private int keyGroup;
    private byte[] buffer = new byte[256];
    private final int headerLength;

    /** Creates a cursor that has opened no file yet. */
    public BuiltInHandleCursor(ChangelogStateHandleStreamImpl handle) {
        this.positions = handle.getHandlesAndOffsets().iterator();
        this.headerLength = RecordFormat.writeHeader(buffer, 0, RecordKind.OPAQUE, 0, 0, 0);
    }

    @Override
    public boolean next(LogRecord record) throws IOException {
        while (changesLeft == 0) {
            if (groupsLeft > 0) {
                groupsLeft--;
                changesLeft = segment.readCount("a number of state changes");
                keyGroup = segment.readInt("a key group");
            } else if (positions.hasNext()) {
                startChangeSet(positions.next());
            } else {
                return false;
            }
        }
        changesLeft--;
        int length = segment.readCount("the length of a state change");
        // Not all at once: a corrupt length must not exhaust the heap.
        int read = 0;
        while (read < length) {
            int next = Math.min(length - read, Math.max(buffer.length - headerLength, 1 << 20));
            ensureCapacity(headerLength + read + next);
            segment.read(buffer, headerLength + read, next, "a state change");
            read += next;
        }
        record.wrap(keyGroup, buffer, 0, headerLength + length);
        return true;
    }

    private void ensureCapacity(int capacity) {
        if (capacity > buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.max(capacity, 2 * buffer.length));
        }
    }

    /**
     * A file contains many change sets of a changelog, in the order of the handle, so it stays
     * open.
     */
    private void startChangeSet(Tuple2<StreamStateHandle, Long> position) throws IOException {
        if (!position.f0.equals(openHandle) || !segment.reaches(position.f1)) {
            close();
            segment = BuiltInSegment.open(position.f0);
            openHandle = position.f0;
        }
        segment.moveTo(position.f1);
        groupsLeft = segment.readCount("a number of key groups");
    }

    @Override
    public void close() {
        groupsLeft = 0;
        changesLeft = 0;
        openHandle = null;
        IOUtils.closeQuietly(segment);
        segment = null;
    }
}
