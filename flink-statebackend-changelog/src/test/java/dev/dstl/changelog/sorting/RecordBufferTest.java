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

package dev.dstl.changelog.sorting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordBufferTest {

    private static final int SORTING_BYTES = 8;
    private static final int PAGE = 256 << 10;

    private final RecordBuffer buffer = new RecordBuffer(SORTING_BYTES);
    private final List<Integer> payloads = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whatIsRetained_staysAsItWas_forRecordsOfAllSizes(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 3_000; i++) {
            int large = random.nextInt(4) * PAGE + random.nextInt(PAGE);
            add(random.nextInt(300) == 0 ? large : random.nextInt(200));
        }
        List<Integer> kept = new ArrayList<>();
        for (int i = 0; i < payloads.size(); i++) {
            if (random.nextInt(10) < seed) {
                kept.add(i);
            }
        }
        buffer.retain(kept.stream().mapToInt(i -> i).toArray());
        assertThat(buffer.count()).isEqualTo(kept.size());
        for (int i = 0; i < kept.size(); i++) {
            assertRecord(i, kept.get(i));
        }
        for (int i = 0; i < 3_000; i++) {
            kept.add(payloads.size());
            add(random.nextInt(300) == 0 ? random.nextInt(4 * PAGE) : random.nextInt(200));
        }
        for (int i = 0; i < kept.size(); i++) {
            assertRecord(i, kept.get(i));
        }
    }

    @Test
    void recordsBehindOnesThatWereRetained_areFoundInAPageThatALargerRecordLeft() {
        add(4_000);
        add(4 * PAGE);
        add(1_000);
        buffer.retain(new int[] {0, 2});
        for (int i = 3; i < 4_000; i++) {
            add(200);
        }
        assertRecord(0, 0);
        for (int i = 1; i < buffer.count(); i++) {
            assertRecord(i, i + 1);
        }
    }

    @Test
    void smallRecordBehindOnesThatAreLargerThanAPage_isFoundAfterTheyMovedTogether() {
        add(1);
        add(4 * PAGE);
        add(2 * PAGE);
        add(PAGE - 100);
        add(50);
        buffer.retain(new int[] {0, 2, 3, 4});
        assertRecord(1, 2);
        assertRecord(2, 3);
        assertRecord(3, 4);
    }

    @Test
    void largestIds_areKept() {
        byte[] bytes = new byte[32];
        int end = RecordFormat.writeHeader(bytes, 0, RecordKind.PUT, Short.MAX_VALUE, 1, 1);
        LogRecord record = new LogRecord();
        record.wrap(Short.MAX_VALUE, bytes, 0, end + 1);
        buffer.add(record);
        assertThat(buffer.group(0)).isEqualTo(Short.MAX_VALUE << 16 | Short.MAX_VALUE);
        LogRecord read = new LogRecord();
        buffer.read(0, read);
        assertThat(read.keyGroup()).isEqualTo(Short.MAX_VALUE);
        assertThat(read.stateId()).isEqualTo(Short.MAX_VALUE);
    }

    @Test
    void memory_isThatOfPagesPlacesAndSorting_andFreedWithTheRecords() {
        assertThat(buffer.memoryBytes()).isZero();
        for (int i = 0; i < 1_025; i++) {
            add(1_000);
        }
        long twoArrays = 2 * 1024 * (8 + SORTING_BYTES);
        long pages = (4 + 8 + 16 + 32 + 64 + 128 + 256 * 3) << 10;
        assertThat(buffer.memoryBytes()).isEqualTo(pages + twoArrays);
        buffer.retain(new int[] {1_024});
        assertThat(buffer.memoryBytes()).isEqualTo((4 << 10) + twoArrays / 2);
        buffer.retain(new int[0]);
        assertThat(buffer.memoryBytes()).isEqualTo(4 << 10);
    }

    @Test
    void bufferWithAsManyPagesAsAPlaceCanName_isFull() {
        while (!buffer.isFull()) {
            add(PAGE + 1);
            assertThat(buffer.count()).isLessThanOrEqualTo(1 << 10);
        }
        assertRecord(buffer.count() - 1, payloads.size() - 1);
    }

    /** Adds a record whose payload tells which one it is. */
    private void add(int payloadLength) {
        int number = payloads.size();
        int length = Integer.BYTES + payloadLength;
        byte[] bytes = new byte[RecordFormat.MAX_HEADER_LENGTH + 2 + length];
        int at = RecordFormat.writeHeader(bytes, 0, RecordKind.PUT, 7, 2, 2) + 2;
        for (int i = 0; i < Integer.BYTES; i++) {
            bytes[at + i] = (byte) (number >>> (Byte.SIZE * i));
        }
        LogRecord record = new LogRecord();
        record.wrap(number % 100, bytes, 0, at + length);
        buffer.add(record);
        payloads.add(length);
    }

    private void assertRecord(int number, int added) {
        LogRecord record = new LogRecord();
        buffer.read(number, record);
        assertThat(record.payloadLength()).isEqualTo(payloads.get(added));
        assertThat(record.keyGroup()).isEqualTo(added % 100);
        assertThat(record.stateId()).isEqualTo(7);
        int read = 0;
        for (int i = Integer.BYTES - 1; i >= 0; i--) {
            read = read << Byte.SIZE | (record.buffer()[record.payloadOffset() + i] & 0xFF);
        }
        assertThat(read).isEqualTo(added);
        assertThat(buffer.keyEnd(number) - buffer.keyStart(number)).isEqualTo(2);
        assertThat(buffer.kind(number)).isEqualTo(RecordKind.PUT);
    }
}
