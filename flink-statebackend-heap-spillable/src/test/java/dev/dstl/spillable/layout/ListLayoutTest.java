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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.overlay.PartitionedMapFixture;
import dev.dstl.spillable.overlay.SpilledView;
import dev.dstl.spillable.spill.PickySerializer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListLayoutTest extends PartitionedMapFixture {

    private static final ListSerializer<String> LISTS =
            new ListSerializer<>(StringSerializer.INSTANCE);

    private final ListLayout<Integer, Long, String> layout =
            new ListLayout<>(IntSerializer.INSTANCE, LongSerializer.INSTANCE, LISTS);

    private List<String> read(int key) throws IOException {
        layout.select(key, 0L);
        return layout.read(map.entries());
    }

    private void add(int key, String element) throws IOException {
        layout.select(key, 0L);
        layout.add(map, element);
    }

    private static String text(Random random) {
        int kind = random.nextInt(60);
        int length = kind == 0 ? 20_000 : kind < 6 ? 300 : random.nextInt(20);
        char[] chars = new char[length];
        Arrays.fill(chars, (char) ('a' + random.nextInt(26)));
        return new String(chars);
    }

    private static List<String> texts(Random random, int most) {
        List<String> texts = new ArrayList<>();
        for (int i = random.nextInt(most); i > 0; i--) {
            texts.add(text(random));
        }
        return texts;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aListWithAsManyElementsAsCanBeCounted_takesNoMore(int fragments) throws IOException {
        layout.select(1, 0L);
        ByteBuffer head = ByteBuffer.allocate(13).order(ByteOrder.LITTLE_ENDIAN);
        head.put((byte) 255).putInt(Integer.MAX_VALUE - 1).putInt(fragments).putInt(0);
        layout.put(map, head.array(), head.capacity());
        for (int i = 0; i < fragments; i++) {
            layout.putPart(map, i, new byte[Integer.BYTES], Integer.BYTES);
        }
        long before = map.size();

        add(1, "the last one");

        assertThat(layout.elements(map.entries())).isEqualTo(Integer.MAX_VALUE);
        assertThatThrownBy(() -> add(1, "one too many"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("A list in state has 2147483647 entries");
        assertThat(layout.elements(map.entries())).isEqualTo(Integer.MAX_VALUE);
        assertThat(map.size()).isEqualTo(before);
        List<String> found = new ArrayList<>();
        layout.readFragment(map.entries(), fragments - 1, found);
        assertThat(found).containsExactly("the last one");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 300, 5000})
    void elementsThatAreAddedAtOnce_comeAfterThoseThatAreThere(int before) throws IOException {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < before; i++) {
            add(1, "before " + i);
            expected.add("before " + i);
        }
        List<String> added = texts(new Random(before), 500);
        layout.select(1, 0L);
        layout.addAll(map, added);
        expected.addAll(added);

        assertThat(read(1)).isEqualTo(expected);
    }

    @Test
    void ofElementsThatAreAddedAtOnce_noneIsThere_ifOneCannotBeSerialized() throws IOException {
        ListLayout<Integer, Long, String> picky =
                new ListLayout<>(
                        IntSerializer.INSTANCE,
                        LongSerializer.INSTANCE,
                        new ListSerializer<>(new PickySerializer()));
        picky.select(1, 0L);
        picky.addAll(map, Arrays.asList("one", "two"));

        picky.select(1, 0L);
        assertThatThrownBy(
                        () ->
                                picky.addAll(
                                        map,
                                        Arrays.asList("three", PickySerializer.INCOMPLETE, "five")))
                .isInstanceOf(SerializerException.class);

        picky.select(1, 0L);
        assertThat(picky.read(map.entries())).containsExactly("one", "two");
    }

    @Test
    void fragmentsThatAnEndedMoveLeftInACheckpoint_goWithTheNextMove() throws IOException {
        List<String> list = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            list.add("element " + i);
        }
        layout.select(1, 0L);
        for (int fragment = 0; fragment < 20; fragment++) {
            layout.copyFragment(map, fragment, list, 0, 500);
        }
        SlicedWrite<List<String>> write = layout.slicedWrite(list.subList(0, 100));
        assertThat(write.write(map, list.subList(0, 100), 1000)).isTrue();
        write.finish(map);

        assertThat(read(1)).isEqualTo(list.subList(0, 100));
        layout.select(1, 0L);
        assertThat(layout.delete(map)).isTrue();
        assertThat(map.liveBytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void randomChanges_leaveWhatPlainListsHold_inEveryViewToo(long seed) throws IOException {
        Random random = new Random(seed);
        Map<Integer, List<String>> expected = new HashMap<>();
        for (int round = 0; round < 10; round++) {
            change(random, expected, 400);
            Map<Integer, List<String>> then = new HashMap<>();
            expected.forEach((key, list) -> then.put(key, new ArrayList<>(list)));
            try (SpilledView view = map.view()) {
                change(random, expected, 200);
                assertThat(Serialized.states(layout.duplicate(), view, LISTS)).isEqualTo(then);
            }
            for (int key = 0; key < 12; key++) {
                assertThat(read(key)).isEqualTo(expected.get(key));
            }
            assertThat(map.size()).isEqualTo(expected.size());
        }
        assertThat(disks.pool().sealedBytes()).as("something was sealed").isPositive();
    }

    private void change(Random random, Map<Integer, List<String>> expected, int changes)
            throws IOException {
        for (int i = 0; i < changes; i++) {
            int key = random.nextInt(12);
            layout.select(key, 0L);
            switch (random.nextInt(40)) {
                case 0:
                    List<String> whole = texts(random, 60);
                    layout.write(map, whole);
                    expected.put(key, whole);
                    break;
                case 1:
                    assertThat(layout.delete(map)).isEqualTo(expected.remove(key) != null);
                    break;
                default:
                    String element = text(random);
                    layout.add(map, element);
                    expected.computeIfAbsent(key, k -> new ArrayList<>()).add(element);
            }
        }
    }

    @Test
    void anEmptyList_isAListAndNotNothing() throws IOException {
        assertThat(read(1)).isNull();
        layout.write(map, Collections.emptyList());

        assertThat(read(1)).isEmpty();
        add(1, "first");
        assertThat(read(1)).containsExactly("first");
    }

    @Test
    void aListReadBack_belongsToTheCaller() throws IOException {
        add(1, "one");
        read(1).add("two");

        assertThat(read(1)).containsExactly("one");
    }

    @Test
    void moreElementsThanAShortHeadCounts_areAddedOneByOne() throws IOException {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            String element = i % 100 == 99 ? "element " + i : "";
            add(1, element);
            expected.add(element);
            assertThat(read(1)).isEqualTo(expected);
        }
        try (SpilledView view = map.view()) {
            add(1, "late");

            assertThat(Serialized.states(layout.duplicate(), view, LISTS))
                    .containsOnly(Map.entry(1, expected));
        }
    }

    @Test
    void aShortList_takesItsElementsAndLittleMore() throws IOException {
        for (int key = 0; key < 100; key++) {
            for (int i = 0; i < 7; i++) {
                add(key, "element");
            }
        }

        long keyBytes = Integer.BYTES + Long.BYTES;
        assertThat(disks.pool().liveBytes()).isEqualTo(100 * (2 + keyBytes + 1 + 7 * 8));
    }

    @Test
    void addingToALongList_writesNoMoreThanAddingToAShortOne() throws IOException {
        for (int i = 0; i < 20_000; i++) {
            add(1, "element " + i);
        }
        add(2, "element");
        long before = disks.pool().putBytes();
        int additions = 1000;
        for (int i = 0; i < additions; i++) {
            add(1, "element " + i);
        }

        assertThat((disks.pool().putBytes() - before) / additions)
                .as("bytes written per addition to a list of 20,000")
                .isLessThan(64);
        assertThat(read(1)).hasSize(21_000).endsWith("element 999");
    }

    @Test
    void coldListsThatGetOneElementNowAndThen_takeLittleMoreThanTheirElements() throws IOException {
        int lists = 3000;
        int rounds = 40;
        for (int round = 0; round < rounds; round++) {
            for (int key = 0; key < lists; key++) {
                add(key, "an element of some length");
            }
        }

        long elementBytes = (long) lists * rounds * 26;
        assertThat(disks.pool().sealedBytes()).as("lists are sealed meanwhile").isPositive();
        assertThat(disks.pool().liveBytes()).isLessThan(2 * elementBytes);
        assertThat(disks.pool().chunks().fileBytes()).isLessThan(6 * elementBytes);
        for (int key = 0; key < lists; key++) {
            assertThat(read(key)).hasSize(rounds);
        }
    }

    @Test
    void aDeletedList_leavesNoFragmentBehind() throws IOException {
        for (int round = 0; round < 3; round++) {
            layout.select(7, 0L);
            List<String> large = Collections.nCopies(5000, "some element");
            layout.write(map, large);
            assertThat(read(7)).isEqualTo(large);
            assertThat(layout.delete(map)).isTrue();
            assertThat(layout.delete(map)).isFalse();
        }

        assertThat(disks.pool().liveBytes()).as("live bytes").isZero();
        assertThat(map.size()).isZero();
    }

    @Test
    void aListWithoutOneOfItsFragments_isNotReadNorWrittenAsIfItHadIt() throws IOException {
        layout.select(7, 0L);
        layout.write(map, Collections.nCopies(5000, "some element"));
        layout.removePart(map, 1);

        assertThatThrownBy(() -> read(7))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("Spilled state has lost a fragment of a list.");
        assertThatThrownBy(() -> layout.copyState(map.entries(), new DataOutputSerializer(64)))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> layout.readFragment(map.entries(), 1, new ArrayList<>()))
                .isInstanceOf(IllegalStateException.class);
        assertThat(layout.delete(map)).isTrue();
    }

    @Test
    void anElementLongerThanAFragment_isKeptInOnePiece() throws IOException {
        String huge = "x".repeat(300_000);
        add(1, "small");
        add(1, huge);
        add(1, "small again");

        assertThat(read(1)).containsExactly("small", huge, "small again");
    }

    @Test
    void whatASnapshotGets_isWhatTheSerializerWrites() throws IOException {
        List<String> list = Arrays.asList("a", "", "ccc");
        layout.select(5, 6L);
        layout.write(map, list);
        try (SpilledView view = map.view()) {
            DataInputDeserializer in = Serialized.input(Serialized.onlyEntry(layout, view));

            assertThat(LongSerializer.INSTANCE.deserialize(in)).isEqualTo(6L);
            assertThat(IntSerializer.INSTANCE.deserialize(in)).isEqualTo(5);
            assertThat(LISTS.deserialize(in)).isEqualTo(list);
            assertThat(in.available()).isZero();
        }
    }
}
