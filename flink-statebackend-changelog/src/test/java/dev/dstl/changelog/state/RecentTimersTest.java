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

package dev.dstl.changelog.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.RecordKind;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecentTimersTest {

    private static final byte[] A = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    private static final byte[] B = {1, 2, 3, 4, 5, 6, 7, 8, 10};

    private final RecentTimers recent = new RecentTimers(4);

    @Test
    void recordOfTheSeries_isRecognizedByItsBytes() {
        append(RecordKind.PUT, 0, A);

        assertThat(contains(RecordKind.PUT, 0, A.clone())).isTrue();
        assertThat(contains(RecordKind.PUT, 0, B)).isFalse();
        assertThat(contains(RecordKind.PUT, 0, Arrays.copyOf(A, 8))).isFalse();
        assertThat(contains(RecordKind.PUT, 0, Arrays.copyOf(A, 10))).isFalse();
    }

    @Test
    void recordOfTheOtherKind_endsTheSeries() {
        append(RecordKind.PUT, 0, A);
        assertThat(contains(RecordKind.DELETE, 0, A)).isFalse();

        append(RecordKind.DELETE, 0, B);
        assertThat(contains(RecordKind.PUT, 0, A)).isFalse();
        assertThat(contains(RecordKind.DELETE, 0, B)).isTrue();

        append(RecordKind.PUT, 0, B);
        assertThat(contains(RecordKind.PUT, 0, A)).isFalse();
    }

    @Test
    void newGeneration_endsTheSeries() {
        append(RecordKind.PUT, 0, A);
        assertThat(contains(RecordKind.PUT, 1, A)).isFalse();

        append(RecordKind.PUT, 1, B);
        assertThat(contains(RecordKind.PUT, 1, A)).isFalse();
        assertThat(contains(RecordKind.PUT, 1, B)).isTrue();
    }

    @Test
    void recordThatIsTooLong_endsTheSeriesAsWell_butIsNotRecognized() {
        append(RecordKind.PUT, 0, A);
        append(RecordKind.DELETE, 0, new byte[64]);

        assertThat(contains(RecordKind.PUT, 0, A)).isFalse();
        assertThat(contains(RecordKind.DELETE, 0, new byte[64])).isFalse();
    }

    @Test
    void longestRecord_isRecognized() {
        byte[] longest = new byte[63];
        Arrays.fill(longest, (byte) -1);
        append(RecordKind.PUT, 0, longest);

        assertThat(contains(RecordKind.PUT, 0, longest)).isTrue();
    }

    @Test
    void nothingIsRecognizedAfterForget() {
        append(RecordKind.PUT, 0, A);
        recent.forget();

        assertThat(contains(RecordKind.PUT, 0, A)).isFalse();
    }

    @Test
    void timersOfAWindow_spreadOverTheSlots() {
        RecentTimers table = new RecentTimers(1024);
        Set<Integer> slots = new HashSet<>();
        for (byte key = 0; key < 64; key++) {
            byte[] record = new byte[33];
            record[15] = key;
            slots.add(table.slotOf(record, record.length));
        }
        assertThat(slots).hasSizeGreaterThan(48);
    }

    /** Compares with all records of the latest series; with four slots, most are overwritten. */
    @Test
    void onlyRecordsOfTheLatestSeries_areRecognized() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Set<List<Byte>> series = new HashSet<>();
        RecordKind kind = RecordKind.PUT;
        long generation = 0;
        int recognized = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] record = new byte[random.nextInt(3)];
            for (int b = 0; b < record.length; b++) {
                record[b] = (byte) random.nextInt(3);
            }
            if (random.nextInt(8) == 0) {
                kind = kind == RecordKind.PUT ? RecordKind.DELETE : RecordKind.PUT;
                series.clear();
            }
            if (random.nextInt(30) == 0) {
                generation++;
                series.clear();
            }
            if (contains(kind, generation, record)) {
                assertThat(series).as("seed %d, step %d", seed, i).contains(list(record));
                recognized++;
            }
            append(kind, generation, record);
            series.add(list(record));
        }
        assertThat(recognized).as("seed %d", seed).isGreaterThan(500);
    }

    private static List<Byte> list(byte[] bytes) {
        Byte[] boxed = new Byte[bytes.length];
        Arrays.setAll(boxed, i -> bytes[i]);
        return List.of(boxed);
    }

    private boolean contains(RecordKind kind, long generation, byte[] record) {
        int slot = recent.slotOf(record, record.length);
        return recent.contains(slot, kind, generation, record, record.length);
    }

    private void append(RecordKind kind, long generation, byte[] record) {
        int slot = recent.slotOf(record, record.length);
        recent.appended(slot, kind, generation, record, record.length);
    }
}
