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

import dev.dstl.changelog.delegate.BulkTarget;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Arrays;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Applies the records of a list state as bytes. Consecutive appends to one list are written to the
 * delegate in one call, in its format: elements separated by commas. Large lists are written in
 * several calls, since what is gathered counts in no memory limit.
 */
final class BulkListApplier extends BulkStateApplier {

    private static final byte DELIMITER = ',';

    /** So many bytes, and the last record, are written in one call. */
    static final int LARGEST_BUFFER = 1 << 20;

    private final BulkTarget target;
    private final TypeSerializer<?> elementSerializer;
    private final DataInputDeserializer input = new DataInputDeserializer();

    /** The list whose appends are being collected; null if there is none. */
    @Nullable private LogRecord pending;

    /** Whether a part of that list has been written. */
    private boolean partWritten;

    private final LogRecord first = new LogRecord();
    private byte[] firstBytes = new byte[256];
    private DataOutputSerializer elements = new DataOutputSerializer(256);

    /** Number of elements in the buffer, which may have no length. */
    private int gathered;

    BulkListApplier(StateApplier entries, RestoredState<?, ?, ?, ?> restored, BulkTarget target) {
        super(entries, restored, target);
        this.target = target;
        this.elementSerializer =
                ((ListSerializer<?>) registration().valueSerializer()).getElementSerializer();
    }

    @Override
    boolean write(LogRecord record, BulkTarget to) throws Exception {
        boolean goesOn = record.kind() == RecordKind.APPEND && isOfPending(record);
        if (!goesOn) {
            writePending();
        }
        if (record.kind() == RecordKind.DELETE) {
            return super.write(record, to);
        }
        boolean isList = record.kind() == RecordKind.PUT || record.kind() == RecordKind.APPEND;
        if (!isList || record.keyPrefixLength() != record.keyLength()) {
            return false;
        }
        if (!goesOn) {
            begin(record);
        }
        gather(record);
        if (elements.length() >= LARGEST_BUFFER) {
            writePart(pending);
        }
        return true;
    }

    private boolean isOfPending(LogRecord record) {
        return pending != null
                && record.keyGroup() == pending.keyGroup()
                && record.keyPrefixLength() == pending.keyPrefixLength()
                && Arrays.equals(
                        record.buffer(),
                        record.keyOffset(),
                        record.payloadOffset(),
                        pending.buffer(),
                        pending.keyOffset(),
                        pending.payloadOffset());
    }

    private void begin(LogRecord record) {
        int length = record.payloadOffset() - record.offset();
        if (firstBytes.length < length) {
            firstBytes = new byte[2 * length];
        }
        System.arraycopy(record.buffer(), record.offset(), firstBytes, 0, length);
        first.wrap(record.keyGroup(), firstBytes, 0, length);
        pending = first;
        partWritten = false;
    }

    private void gather(LogRecord record) throws IOException {
        DataInputDeserializer payload = input;
        payload.setBuffer(record.buffer(), record.payloadOffset(), record.payloadLength());
        try {
            int count = payload.readInt();
            if (count == 1) {
                gather(record.buffer(), payload.getPosition(), payload.available());
                return;
            }
            for (int i = 0; i < count; i++) {
                int from = payload.getPosition();
                elementSerializer.deserialize(payload);
                gather(record.buffer(), from, payload.getPosition() - from);
            }
        } catch (IOException | RuntimeException e) {
            throw unreadable(record, e);
        }
        if (payload.available() > 0) {
            throw corrupt(record, "expected its end, found " + payload.available() + " more", null);
        }
    }

    private void gather(byte[] source, int offset, int length) throws IOException {
        if (gathered++ > 0) {
            elements.writeByte(DELIMITER);
        }
        elements.write(source, offset, length);
    }

    private void writePending() throws IOException {
        LogRecord list = pending;
        if (list == null) {
            return;
        }
        pending = null;
        if (gathered > 0) {
            writePart(list);
        } else if (list.kind() == RecordKind.PUT && !partWritten) {
            target.delete(list);
        }
    }

    private void writePart(LogRecord list) throws IOException {
        byte[] bytes = elements.getSharedBuffer();
        if (list.kind() == RecordKind.APPEND || partWritten) {
            target.append(list, bytes, 0, elements.length());
        } else {
            target.put(list, bytes, 0, elements.length());
        }
        partWritten = true;
        gathered = 0;
        if (bytes.length > LARGEST_BUFFER) {
            elements = new DataOutputSerializer(256);
        } else {
            elements.clear();
        }
    }

    @Override
    void finish() throws IOException {
        writePending();
        super.finish();
    }
}
