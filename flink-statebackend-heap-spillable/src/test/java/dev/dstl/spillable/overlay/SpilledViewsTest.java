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

package dev.dstl.spillable.overlay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Any number of views while the map changes, is sealed and is compacted, against plain maps. */
class SpilledViewsTest extends PartitionedMapFixture {

    /** A view and what it must go on showing. */
    private static final class Then {
        final SpilledView view;
        final Map<String, byte[]> entries;
        final Map<String, byte[]> parts;

        Then(SpilledView view, Map<String, byte[]> entries, Map<String, byte[]> parts) {
            this.view = view;
            this.entries = new HashMap<>(entries);
            this.parts = new HashMap<>(parts);
        }
    }

    private final Map<String, byte[]> entries = new HashMap<>();
    private final Map<String, byte[]> parts = new HashMap<>();

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    private void put(String key, boolean part, byte[] value) {
        byte[] bytes = bytes(key);
        map.put(
                bytes,
                bytes.length,
                map.entries().keyHash().of(bytes, bytes.length),
                part,
                value,
                value.length);
        (part ? parts : entries).put(key, value);
    }

    private void remove(String key, boolean part) {
        byte[] bytes = bytes(key);
        boolean removed =
                map.remove(
                        bytes, bytes.length, map.entries().keyHash().of(bytes, bytes.length), part);
        assertThat(removed).isEqualTo((part ? parts : entries).remove(key) != null);
    }

    private static byte[] get(EntryReader reader, String key, boolean part) {
        byte[] bytes = bytes(key);
        int hash = reader.keyHash().of(bytes, bytes.length);
        return reader.find(bytes, bytes.length, hash, part) == 0 ? null : value(reader);
    }

    private static byte[] value(EntryReader reader) {
        byte[] value = new byte[reader.valueLength()];
        reader.copy(reader.valueOffset(), value, value.length);
        return value;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void viewsOfAnyAge_showWhatTheySaw(long seed) throws IOException {
        Random random = new Random(seed);
        Deque<Then> views = new ArrayDeque<>();
        for (int round = 0; round < 30; round++) {
            change(random, 1500);
            if (random.nextInt(3) > 0) {
                views.add(new Then(map.view(), entries, parts));
            }
            if (!views.isEmpty() && random.nextInt(3) == 0) {
                Then then = random.nextBoolean() ? views.pollFirst() : views.pollLast();
                check(then);
                then.view.close();
                then.view.close();
            }
        }
        assertThat(map.size()).isEqualTo(entries.size());
        for (Then then : views) {
            check(then);
            then.view.close();
        }
        assertThat(disks.pool().sealedBytes()).as("something was sealed").isPositive();
    }

    private void change(Random random, int changes) {
        for (int i = 0; i < changes; i++) {
            String key = "key " + random.nextInt(3000);
            boolean part = random.nextInt(4) == 0;
            if (random.nextInt(4) == 0) {
                remove(key, part);
            } else {
                // Few lengths, so that many values change in place.
                byte[] value = new byte[40 * random.nextInt(5)];
                random.nextBytes(value);
                put(key, part, value);
            }
        }
    }

    private static void check(Then then) throws IOException {
        EntryReader reader = then.view.entries();
        assertThat(then.view.size()).isEqualTo(then.entries.size());
        then.entries.forEach((key, value) -> assertThat(get(reader, key, false)).isEqualTo(value));
        then.parts.forEach((key, value) -> assertThat(get(reader, key, true)).isEqualTo(value));

        Map<String, byte[]> inOrder = new HashMap<>();
        then.view.forEachAsItLies(
                address -> {
                    String key = new String(reader.copyKey(), StandardCharsets.UTF_8);
                    assertThat(inOrder.put(key, value(reader))).as("met twice").isNull();
                });
        assertSame(inOrder, then.entries);

        Map<String, byte[]> byIndex = new HashMap<>();
        List<Long> addresses = new ArrayList<>();
        for (int cursor = 0; cursor < reader.cursorEnd(); cursor++) {
            reader.addressesAt(cursor, addresses::add);
        }
        for (long address : addresses) {
            reader.read(address);
            assertThat(reader.isPart()).isFalse();
            byIndex.put(new String(reader.copyKey(), StandardCharsets.UTF_8), value(reader));
        }
        assertThat(addresses).hasSize(then.entries.size());
        assertSame(byIndex, then.entries);
    }

    private static void assertSame(Map<String, byte[]> actual, Map<String, byte[]> expected) {
        assertThat(actual.keySet()).isEqualTo(expected.keySet());
        actual.forEach((key, value) -> assertThat(value).isEqualTo(expected.get(key)));
    }

    @Test
    void entriesAndPartsOfOneKey_areApart() {
        put("key", false, new byte[] {1});
        put("key", true, new byte[] {2});
        assertThat(map.size()).as("parts are not counted").isEqualTo(1);

        remove("key", false);

        assertThat(get(map.entries(), "key", false)).isNull();
        assertThat(get(map.entries(), "key", true)).containsExactly(2);
        assertThat(map.size()).isZero();
    }

    @Test
    void aValueOfTheSameLength_changesInPlaceUntilAViewSeesIt() {
        put("key", false, new byte[] {1, 2, 3});
        long before = disks.pool().overlayBytes();
        put("key", false, new byte[] {4, 5, 6});
        assertThat(disks.pool().overlayBytes()).as("in place").isEqualTo(before);

        try (SpilledView view = map.view()) {
            put("key", false, new byte[] {7, 8, 9});
            assertThat(disks.pool().overlayBytes()).as("copied").isGreaterThan(before);
            assertThat(get(view.entries(), "key", false)).containsExactly(4, 5, 6);
        }
        assertThat(get(map.entries(), "key", false)).containsExactly(7, 8, 9);
    }

    @Test
    void addressesAt_giveEachEntryOnce_inStepsOfAnySize() {
        for (int i = 0; i < 30; i++) {
            put("key " + i, i % 2 == 0, new byte[i]);
        }
        List<Long> addresses = new ArrayList<>();
        int next = map.entries().addressesAt(0, 0, 7, addresses::add);
        assertThat(addresses).hasSize(7);
        while (next >= 0) {
            next = map.entries().addressesAt(0, next, 7, addresses::add);
        }

        assertThat(addresses).hasSize(15).doesNotHaveDuplicates();
    }

    @Test
    void keysOfAnyLength_areFoundByAllTheirBytes() {
        for (int length = 0; length < 200; length++) {
            char[] chars = new char[length];
            Arrays.fill(chars, 'k');
            put(new String(chars), false, new byte[] {(byte) length});
        }
        for (int length = 0; length < 200; length++) {
            char[] chars = new char[length];
            Arrays.fill(chars, 'k');
            assertThat(get(map.entries(), new String(chars), false)).containsExactly((byte) length);
            if (length > 0) {
                chars[length - 1] = 'x';
                assertThat(get(map.entries(), new String(chars), false)).isNull();
            }
        }
    }
}
