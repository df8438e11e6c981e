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
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.NoSuchElementException;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;

/** Converts records to state changes of Flink's changelog API. Owns its cursor. */
final class StateChangeIterator implements CloseableIterator<StateChange> {

    private final RecordCursor cursor;
    private final LogRecord record = new LogRecord();
    private boolean fetched;
    private boolean present;

    StateChangeIterator(RecordCursor cursor) {
        this.cursor = cursor;
    }

    @Override
    public boolean hasNext() {
        if (!fetched) {
            try {
                present = cursor.next(record);
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
            fetched = true;
        }
        return present;
    }

    @Override
    public StateChange next() {
        if (!hasNext()) {
            throw new NoSuchElementException("The changelog has no more records");
        }
        fetched = false;
        boolean opaque = record.kind() == RecordKind.OPAQUE;
        int from = opaque ? record.payloadOffset() : record.offset();
        int length = opaque ? record.payloadLength() : record.length();
        byte[] change = Arrays.copyOfRange(record.buffer(), from, from + length);
        return record.keyGroup() < 0
                ? StateChange.ofMetadataChange(change)
                : StateChange.ofDataChange(record.keyGroup(), change);
    }

    @Override
    public void close() throws IOException {
        cursor.close();
    }
}
