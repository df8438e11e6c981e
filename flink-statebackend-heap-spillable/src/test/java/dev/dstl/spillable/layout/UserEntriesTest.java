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

package dev.dstl.spillable.layout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UserEntriesTest {

    private final UserEntries entries = new UserEntries();

    private static DataOutputSerializer bytes(String text) {
        DataOutputSerializer out = new DataOutputSerializer(16);
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out;
    }

    private static Map<String, String> all(UserEntries entries) {
        Map<String, String> all = new HashMap<>();
        entries.rewind();
        while (entries.next()) {
            String key = text(entries, entries.keyOffset(), entries.keyLength());
            String value = text(entries, entries.valueOffset(), entries.valueLength());
            assertThat(all.put(key, value)).as("met twice").isNull();
        }
        return all;
    }

    private static String text(UserEntries entries, int offset, int length) {
        return new String(entries.bytes(), offset, length, StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void randomChanges_leaveWhatAPlainMapHolds(long seed) {
        Random random = new Random(seed);
        Map<String, String> expected = new HashMap<>();
        for (int i = 0; i < 5000; i++) {
            String key = "k".repeat(random.nextInt(150));
            String value = String.valueOf(i % 10).repeat(random.nextInt(200));
            boolean found = entries.seek(bytes(key));
            assertThat(found).isEqualTo(expected.containsKey(key));
            if (found) {
                assertThat(text(entries, entries.valueOffset(), entries.valueLength()))
                        .isEqualTo(expected.get(key));
            }
            if (found && random.nextBoolean()) {
                entries.removeCurrent();
                expected.remove(key);
            } else if (found) {
                entries.replaceValue(bytes(value));
                expected.put(key, value);
            } else {
                entries.append(bytes(key), bytes(value));
                expected.put(key, value);
            }
            if (i % 50 == 0) {
                assertThat(all(entries)).isEqualTo(expected);
            }
        }
        assertThat(all(entries)).isEqualTo(expected);
    }

    @Test
    void aSplit_movesEveryUserEntryToOneSide() {
        UserEntries even = new UserEntries();
        UserEntries odd = new UserEntries();
        for (int i = 0; i < 100; i++) {
            entries.append(bytes("key " + i), bytes("value " + i));
        }
        entries.rewind();
        while (entries.next()) {
            ((entries.keyHash(new KeyHash(1)) & 1) == 0 ? even : odd).appendCurrentOf(entries);
        }

        Map<String, String> both = all(even);
        both.putAll(all(odd));
        assertThat(both).isEqualTo(all(entries));
        assertThat(all(even).size() + all(odd).size()).isEqualTo(100);
        assertThat(even.length() + odd.length()).isEqualTo(entries.length());
    }

    @Test
    void aBucketOverHalfAKilobyte_isTooLarge() {
        entries.append(bytes("key"), bytes("v".repeat(500)));
        assertThat(entries.isTooLarge()).isFalse();

        entries.append(bytes("other"), bytes("v"));

        assertThat(entries.length()).isGreaterThan(512);
        assertThat(entries.isTooLarge()).isTrue();
    }

    @Test
    void anEmptyKeyAndAnEmptyValue_areAUserEntry() {
        entries.append(bytes(""), bytes(""));

        assertThat(entries.seek(bytes(""))).isTrue();
        assertThat(entries.valueLength()).isZero();
        entries.removeCurrent();
        assertThat(entries.seek(bytes(""))).isFalse();
        assertThat(entries.length()).isZero();
    }

    @Test
    void clear_leavesNothing() {
        entries.append(bytes("key"), bytes("value"));
        entries.clear();

        assertThat(entries.next()).isFalse();
        assertThat(all(entries)).isEmpty();
    }
}
