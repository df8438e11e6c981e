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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class RecordFormatPropertyTest {

    @Property
    void aRecordReadsAsItWasWritten(
            @ForAll RecordKind kind,
            @ForAll @IntRange(min = -1, max = 32767) int keyGroup,
            @ForAll @IntRange(min = 0) int stateId,
            @ForAll @Size(max = 300) byte[] prefix,
            @ForAll @Size(max = 300) byte[] suffix,
            @ForAll @Size(max = 300) byte[] payload,
            @ForAll @IntRange(min = 0, max = 9) int offset) {
        int keyLength = prefix.length + suffix.length;
        int headerLength = RecordFormat.headerLength(stateId, prefix.length, keyLength);
        int length = headerLength + keyLength + payload.length;
        byte[] buffer = new byte[offset + length + 3];
        int at = RecordFormat.writeHeader(buffer, offset, kind, stateId, prefix.length, keyLength);
        assertThat(at).isEqualTo(offset + headerLength);
        System.arraycopy(prefix, 0, buffer, at, prefix.length);
        System.arraycopy(suffix, 0, buffer, at + prefix.length, suffix.length);
        System.arraycopy(payload, 0, buffer, at + keyLength, payload.length);

        LogRecord record = new LogRecord();
        record.wrap(keyGroup, buffer, offset, length);

        assertThat(record.kind()).isEqualTo(kind);
        assertThat(record.keyGroup()).isEqualTo(keyGroup);
        assertThat(record.stateId()).isEqualTo(stateId);
        assertThat(record.offset()).isEqualTo(offset);
        assertThat(record.length()).isEqualTo(length);
        assertThat(record.keyPrefixLength()).isEqualTo(prefix.length);
        assertThat(record.keyLength()).isEqualTo(keyLength);
        assertThat(record.payloadLength()).isEqualTo(payload.length);
        assertThat(part(record.keyOffset(), prefix.length, buffer)).isEqualTo(prefix);
        assertThat(part(record.payloadOffset(), payload.length, buffer)).isEqualTo(payload);
    }

    @Property
    void anyNumberTakesAsManyBytesAsAnnounced(@ForAll int value) {
        byte[] buffer = new byte[5];
        assertThat(RecordFormat.writeVarint(buffer, 0, value))
                .isEqualTo(RecordFormat.varintLength(value))
                .isBetween(1, 5);
    }

    @Property
    void arbitraryBytesAreARecordOrRefused(@ForAll @Size(max = 20) byte[] bytes) {
        LogRecord record = new LogRecord();
        try {
            record.wrap(0, bytes, 0, bytes.length);
        } catch (IllegalArgumentException refused) {
            return;
        }
        assertThat(record.keyPrefixLength()).isBetween(0, record.keyLength());
        assertThat(record.payloadOffset()).isBetween(4, bytes.length);
        assertThat(record.payloadOffset() + record.payloadLength()).isEqualTo(bytes.length);
    }

    @Property
    void aRecordCutInsideItsHeaderOrRecordKeyIsRefused(
            @ForAll RecordKind kind,
            @ForAll @IntRange(min = 0) int stateId,
            @ForAll @Size(max = 20) byte[] recordKey,
            @ForAll @IntRange(min = 0, max = 1000) int cut) {
        int headerLength = RecordFormat.headerLength(stateId, 0, recordKey.length);
        byte[] bytes = new byte[headerLength + recordKey.length];
        int at = RecordFormat.writeHeader(bytes, 0, kind, stateId, 0, recordKey.length);
        System.arraycopy(recordKey, 0, bytes, at, recordKey.length);
        int length = cut % bytes.length;

        assertThatThrownBy(() -> new LogRecord().wrap(0, bytes, 0, length))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Property
    void aKindIsFoundByItsCodeAndNoOtherCodeIsAKind(@ForAll byte code) {
        if (code >= 1 && code <= 6) {
            assertThat(RecordKind.of(code).code()).isEqualTo(code);
        } else {
            assertThatThrownBy(() -> RecordKind.of(code))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Unknown record kind " + code + ", expected 1 to 6");
        }
    }

    private static byte[] part(int offset, int length, byte[] bytes) {
        return Arrays.copyOfRange(bytes, offset, offset + length);
    }
}
