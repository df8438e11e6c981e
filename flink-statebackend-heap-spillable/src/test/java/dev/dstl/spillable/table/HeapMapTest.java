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

package dev.dstl.spillable.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeapMapTest {

    /** A view and its expected contents. */
    private static final class Then {
        final HeapView<Integer, Integer, List<String>> view;
        final Map<List<Integer>, List<String>> entries = new HashMap<>();

        Then(
                HeapView<Integer, Integer, List<String>> view,
                Map<List<Integer>, List<String>> entries) {
            this.view = view;
            entries.forEach((key, state) -> this.entries.put(key, new ArrayList<>(state)));
        }

        void check() {
            Map<List<Integer>, List<String>> shown = new HashMap<>();
            view.forEach(
                    e ->
                            assertThat(shown.put(Arrays.asList(e.key, e.namespace), e.state))
                                    .as("met twice")
                                    .isNull());
            assertThat(shown).isEqualTo(entries);
            assertThat(view.size()).isEqualTo(entries.size());
            assertThat(view.entries()).hasSize(entries.size());
        }
    }

    private final HeapMap<Integer, Integer, List<String>> map =
            new HeapMap<>(new ListSerializer<>(StringSerializer.INSTANCE));
    private final Map<List<Integer>, List<String>> expected = new HashMap<>();

    private static List<String> list(String... elements) {
        return new ArrayList<>(Arrays.asList(elements));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void randomChanges_leaveWhatAPlainMapHolds_inViewsOfAnyAgeToo(long seed) {
        Random random = new Random(seed);
        Deque<Then> views = new ArrayDeque<>();
        for (int round = 0; round < 40; round++) {
            change(random, 600);
            if (random.nextInt(3) > 0) {
                views.add(new Then(map.view(), expected));
            }
            if (!views.isEmpty() && random.nextInt(3) == 0) {
                Then then = random.nextBoolean() ? views.pollFirst() : views.pollLast();
                then.check();
                then.view.close();
            }
            assertThat(map.size()).isEqualTo(expected.size());
        }
        views.forEach(Then::check);
        views.forEach(then -> then.view.close());
        Map<List<Integer>, List<String>> all = new HashMap<>();
        for (int cursor = 0; cursor < map.cursorEnd(); cursor++) {
            map.visit(cursor, e -> all.put(Arrays.asList(e.key, e.namespace), e.state));
        }
        assertThat(all).isEqualTo(expected);
    }

    private void change(Random random, int changes) {
        for (int i = 0; i < changes; i++) {
            int key = random.nextInt(2000);
            int namespace = random.nextInt(2);
            List<Integer> identity = Arrays.asList(key, namespace);
            switch (random.nextInt(7)) {
                case 0:
                    List<String> removed = map.removeAndGet(key, namespace);
                    assertThat(removed).isEqualTo(expected.remove(identity));
                    if (removed != null) {
                        removed.add("changed by whoever removed it");
                    }
                    break;
                case 1:
                    List<String> replacement = list("replaced " + i);
                    boolean replaced = map.replace(key, namespace, replacement);
                    assertThat(replaced).isEqualTo(expected.containsKey(identity));
                    if (replaced) {
                        expected.put(identity, list("replaced " + i));
                    }
                    break;
                case 2:
                    List<String> inPlace = map.get(key, namespace);
                    assertThat(inPlace).isEqualTo(expected.get(identity));
                    if (inPlace != null) {
                        inPlace.add("in place " + i);
                        expected.get(identity).add("in place " + i);
                    }
                    break;
                case 3:
                    assertThat(map.peek(key, namespace)).isEqualTo(expected.get(identity));
                    break;
                case 4:
                    assertThat(map.remove(key, namespace))
                            .isEqualTo(expected.remove(identity) != null);
                    break;
                default:
                    map.put(key, namespace, list("put " + i));
                    expected.put(identity, list("put " + i));
            }
        }
    }

    @Test
    void aMapOverOneTable_splitsInTwo_andAnOldViewStillShowsAll() {
        int entries = 3 * HeapMap.MAX_BUCKETS;
        for (int key = 0; key < HeapMap.MAX_BUCKETS / 2; key++) {
            map.put(key, 0, list());
        }
        HeapView<Integer, Integer, List<String>> view = map.view();
        for (int key = HeapMap.MAX_BUCKETS / 2; key < entries; key++) {
            map.put(key, 0, list());
        }

        assertThat(map.cursorEnd()).isGreaterThan(1);
        for (int key = 0; key < entries; key++) {
            assertThat(map.get(key, 0)).isEmpty();
        }
        assertThat(view.entries()).hasSize(HeapMap.MAX_BUCKETS / 2);
        view.close();
    }

    @Test
    void aStateThatAViewSees_isCopiedBeforeItIsHandedOut() {
        List<String> original = list("one");
        map.put(1, 1, original);
        assertThat(map.get(1, 1)).isSameAs(original);

        HeapView<Integer, Integer, List<String>> view = map.view();
        List<String> copy = map.get(1, 1);
        assertThat(copy).isNotSameAs(original).isEqualTo(original);
        assertThat(map.get(1, 1)).as("copied once").isSameAs(copy);
        assertThat(map.peek(1, 1)).isSameAs(copy);

        view.close();
        assertThat(map.get(1, 1)).isSameAs(copy);
    }

    @Test
    void statesThatNeverChange_areNotCopied() {
        HeapMap<Integer, Integer, String> strings = new HeapMap<>(StringSerializer.INSTANCE);
        String state = String.join("", "st", "ate");
        strings.put(1, 1, state);
        HeapView<Integer, Integer, String> view = strings.view();

        assertThat(strings.get(1, 1)).isSameAs(state);
        assertThat(strings.removeAndGet(1, 1)).isSameAs(state);
        assertThat(view.entries()).hasSize(1);
        view.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 50, 5_000})
    void thousandsOfKeysWithFewHashes_takeNoDirectoryForThem(int hashes) {
        HeapMap<Object, Integer, String> fewHashes = new HeapMap<>(StringSerializer.INSTANCE);
        Random random = new Random(hashes);
        int[] hash = random.ints(hashes).toArray();
        List<Object> keys = new ArrayList<>();
        for (int id = 0; id < 8_000; id++) {
            keys.add(new KeyWithHash(id, hash[id % hashes]));
        }
        for (int i = 0; i < keys.size(); i++) {
            fewHashes.put(keys.get(i), 0, "state " + i);
            assertThat(fewHashes.cursorEnd()).isLessThanOrEqualTo(64);
        }
        for (int i = 0; i < keys.size(); i++) {
            assertThat(fewHashes.removeAndGet(keys.get(i), 0)).isEqualTo("state " + i);
        }
        assertThat(fewHashes.size()).isZero();
    }

    private static final class KeyWithHash {
        private final int id;
        private final int hash;

        KeyWithHash(int id, int hash) {
            this.id = id;
            this.hash = hash;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof KeyWithHash && ((KeyWithHash) other).id == id;
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    /** Takes entries, or fails on one. */
    private interface Taker {
        void accept(int key, int namespace, List<String> state) throws IOException;
    }

    /** Hands over entries that leave the map, up to {@code most}. */
    private int drain(int most, Taker taker) throws IOException {
        int drained = 0;
        for (HeapEntry<Integer, Integer, List<String>> entry = map.next();
                entry != null && drained < most;
                entry = map.next()) {
            taker.accept(entry.key, entry.namespace, entry.state);
            map.discard(entry);
            drained++;
        }
        return drained;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1000, Integer.MAX_VALUE})
    void drain_handsOverEveryEntryOnce(int step) throws IOException {
        for (int key = 0; key < 3000; key++) {
            map.put(key, 1, list("state " + key));
        }
        Then then = new Then(map.view(), Collections.emptyMap());
        Map<Integer, List<String>> drained = new HashMap<>();
        int calls = 0;
        while (map.size() > 0) {
            int before = map.size();
            int moved =
                    drain(
                            step,
                            (key, namespace, state) ->
                                    assertThat(drained.put(key, state)).as("twice").isNull());
            assertThat(moved).isEqualTo(before - map.size()).isBetween(1, Math.max(1, step));
            calls++;
        }

        assertThat(calls).isEqualTo((2999 + (long) step) / step);
        assertThat(drained).hasSize(3000).containsEntry(17, list("state 17"));
        assertThat(then.view.entries()).as("seen by a view all the same").hasSize(3000);
        then.view.close();
    }

    @Test
    void aDrainThatFails_losesNothing() throws IOException {
        for (int key = 0; key < 100; key++) {
            map.put(key, 1, list("state " + key));
        }
        List<Integer> taken = new ArrayList<>();

        assertThatThrownBy(
                        () ->
                                drain(
                                        50,
                                        (key, namespace, state) -> {
                                            if (taken.size() == 20) {
                                                throw new IOException("disk full");
                                            }
                                            taken.add(key);
                                        }))
                .isInstanceOf(IOException.class)
                .hasMessage("disk full");

        assertThat(map.size()).isEqualTo(80);
        for (int key = 0; key < 100; key++) {
            assertThat(map.get(key, 1) == null).isEqualTo(taken.contains(key));
        }
        assertThat(drain(Integer.MAX_VALUE, (key, namespace, state) -> {})).isEqualTo(80);
    }

    @Test
    void entriesThatComeWhileAMapIsDrained_leaveAsWell() throws IOException {
        for (int key = 0; key < 500; key++) {
            map.put(key, 1, list());
        }
        int drained = drain(250, (key, namespace, state) -> {});
        for (int key = 1000; key < 1100; key++) {
            map.put(key, 1, list());
        }
        drained += drain(Integer.MAX_VALUE, (key, namespace, state) -> {});

        assertThat(drained).isEqualTo(600);
        assertThat(map.size()).isZero();
        map.put(1, 1, list("again"));
        assertThat(map.get(1, 1)).containsExactly("again");
    }

    @Test
    void versionsThatNoViewNeeds_areForgotten() {
        HeapViews views = new HeapViews();
        assertThat(views.neededBelow()).isZero();
        int first = views.open();
        int second = views.open();
        assertThat(views.version()).isEqualTo(second).isGreaterThan(first);
        assertThat(views.neededBelow()).isEqualTo(second);

        views.close(second);
        assertThat(views.neededBelow()).isEqualTo(first);
        views.close(second);
        views.close(first);
        assertThat(views.neededBelow()).isZero();
        assertThat(views.open()).as("never used again").isGreaterThan(second);
    }
}
