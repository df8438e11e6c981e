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

package dev.dstl.changelog.replay;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;

/**
 * Returns the records of a changelog that was written through Flink's plain interface, by DSTL or,
 * as OPAQUE records, by Flink's built-in changelog: every changelog starts with a registration,
 * which distinguishes the two. Owns the iterator. Not thread-safe.
 */
public final class StateChangeCursor implements RecordCursor {

    private final CloseableIterator<StateChange> changes;
    private boolean started;
    private boolean builtIn;

    /** Creates a cursor that owns {@code changes}. */
    public StateChangeCursor(CloseableIterator<StateChange> changes) {
        this.changes = changes;
    }

    @Override
    public boolean next(LogRecord record) throws IOException {
        if (!changes.hasNext()) {
            return false;
        }
        StateChange change = changes.next();
        byte[] bytes = change.getChange();
        if (!started) {
            started = true;
            builtIn =
                    change.getKeyGroup() == StateChange.META_KEY_GROUP
                            && bytes.length > 0
                            && BuiltInOperation.isMetadata(bytes[0]);
        }
        if (builtIn) {
            wrapOpaque(record, change.getKeyGroup(), bytes);
            return true;
        }
        try {
            record.wrap(change.getKeyGroup(), bytes, 0, bytes.length);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "The changelog contains a state change that is not a record of DSTL ("
                            + e.getMessage()
                            + "). Was the checkpoint written by another changelog backend?",
                    e);
        }
        return true;
    }

    private static void wrapOpaque(LogRecord record, int keyGroup, byte[] change) {
        byte[] opaque = new byte[RecordFormat.headerLength(0, 0, 0) + change.length];
        int header = RecordFormat.writeHeader(opaque, 0, RecordKind.OPAQUE, 0, 0, 0);
        System.arraycopy(change, 0, opaque, header, change.length);
        record.wrap(keyGroup, opaque, 0, opaque.length);
    }

    @Override
    public void close() throws IOException {
        try {
            changes.close();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("Cannot close the reader of the changelog", e);
        }
    }
}
