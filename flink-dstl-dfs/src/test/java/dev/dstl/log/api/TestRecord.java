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

package dev.dstl.log.api;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** A record as a value, for tests. */
public final class TestRecord {

    public final RecordKind kind;
    public final int keyGroup;
    public final int stateId;
    public final int keyPrefixLength;
    public final byte[] recordKey;
    public final byte[] payload;

    public TestRecord(
            RecordKind kind,
            int keyGroup,
            int stateId,
            int keyPrefixLength,
            byte[] recordKey,
            byte[] payload) {
        this.kind = kind;
        this.keyGroup = keyGroup;
        this.stateId = stateId;
        this.keyPrefixLength = keyPrefixLength;
        this.recordKey = recordKey;
        this.payload = payload;
    }

    public static TestRecord of(
            RecordKind kind,
            int keyGroup,
            int stateId,
            String prefix,
            String rest,
            String payload) {
        return new TestRecord(
                kind,
                keyGroup,
                stateId,
                prefix.length(),
                (prefix + rest).getBytes(StandardCharsets.ISO_8859_1),
                payload.getBytes(StandardCharsets.ISO_8859_1));
    }

    public static TestRecord put(int keyGroup, int stateId, String recordKey, String payload) {
        return of(RecordKind.PUT, keyGroup, stateId, recordKey, "", payload);
    }

    public static TestRecord opaque(int keyGroup, String payload) {
        return of(RecordKind.OPAQUE, keyGroup, 0, "", "", payload);
    }

    public static TestRecord meta(int stateId, String payload) {
        return of(RecordKind.META, -1, stateId, "", "", payload);
    }

    public static TestRecord copyOf(LogRecord record) {
        byte[] buffer = record.buffer();
        int payloadOffset = record.payloadOffset();
        return new TestRecord(
                record.kind(),
                record.keyGroup(),
                record.stateId(),
                record.keyPrefixLength(),
                Arrays.copyOfRange(buffer, record.keyOffset(), payloadOffset),
                Arrays.copyOfRange(buffer, payloadOffset, payloadOffset + record.payloadLength()));
    }

    /** Reads all remaining records of a cursor. */
    public static List<TestRecord> readAll(RecordCursor cursor) throws IOException {
        List<TestRecord> records = new ArrayList<>();
        LogRecord record = new LogRecord();
        while (cursor.next(record)) {
            records.add(copyOf(record));
        }
        return records;
    }

    /** Returns record key and payload, as passed to a writer. */
    public byte[] bytes() {
        byte[] bytes = Arrays.copyOf(recordKey, recordKey.length + payload.length);
        System.arraycopy(payload, 0, bytes, recordKey.length, payload.length);
        return bytes;
    }

    public String prefix() {
        return new String(recordKey, 0, keyPrefixLength, StandardCharsets.ISO_8859_1);
    }

    public String recordKey() {
        return new String(recordKey, StandardCharsets.ISO_8859_1);
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof TestRecord)) {
            return false;
        }
        TestRecord that = (TestRecord) other;
        return kind == that.kind
                && keyGroup == that.keyGroup
                && stateId == that.stateId
                && keyPrefixLength == that.keyPrefixLength
                && Arrays.equals(recordKey, that.recordKey)
                && Arrays.equals(payload, that.payload);
    }

    @Override
    public int hashCode() {
        return Objects.hash(
                kind, keyGroup, stateId, Arrays.hashCode(recordKey), Arrays.hashCode(payload));
    }

    @Override
    public String toString() {
        return String.format(
                "%s(group %d, state %d, %s|%s = %s)",
                kind,
                keyGroup,
                stateId,
                prefix(),
                recordKey().substring(keyPrefixLength),
                payload.length < 50
                        ? new String(payload, StandardCharsets.ISO_8859_1)
                        : payload.length + " bytes");
    }
}
