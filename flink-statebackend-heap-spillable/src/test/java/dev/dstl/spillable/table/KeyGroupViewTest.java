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

import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.PlainLayout;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.partition.DamagedPartitionException;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes of one key group in Flink's heap format: a number of entries, then the entries. */
class KeyGroupViewTest {

    private static final int ENTRIES = 5000;

    @TempDir Path disk;
    private PoolOnDisk disks;
    private final KeyGroupMap<Integer, Long, String> map =
            new KeyGroupMap<>(
                    StringSerializer.INSTANCE, new StateIdentity(0, "state", 0), new EntrySizes());
    private final PlainLayout<Integer, Long, String> layout =
            new PlainLayout<>(
                    IntSerializer.INSTANCE, LongSerializer.INSTANCE, StringSerializer.INSTANCE);

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 256 << 10);
    }

    @AfterEach
    void close() throws IOException {
        map.close();
        disks.close();
    }

    private void fill(int spilled) throws IOException {
        for (int key = 0; key < ENTRIES; key++) {
            map.put(key, 7L, "state " + key, layout);
        }
        if (spilled > 0) {
            map.startSpill(disks.pool());
            map.spill(spilled, layout);
        }
    }

    private Map<Integer, String> written(StateSnapshotTransformer<String> transformer)
            throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(1024);
        EntryOutput entries = new EntryOutput(out);
        KeyGroupView<Integer, Long, String> view = map.view();
        view.write(
                IntSerializer.INSTANCE,
                LongSerializer.INSTANCE,
                StringSerializer.INSTANCE,
                layout.duplicate(),
                transformer,
                entries);
        entries.flush();
        view.close();
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        int count = in.readInt();
        Map<Integer, String> written = new HashMap<>();
        for (int i = 0; i < count; i++) {
            assertThat(LongSerializer.INSTANCE.deserialize(in)).isEqualTo(7L);
            int key = IntSerializer.INSTANCE.deserialize(in);
            assertThat(written.put(key, StringSerializer.INSTANCE.deserialize(in))).isNull();
        }
        assertThat(in.available()).as("bytes behind the last entry").isZero();
        return written;
    }

    /** Drops every third state, changes every fifth, keeps the rest. */
    private static String transform(String state) {
        int number = Integer.parseInt(state.substring("state ".length()));
        return number % 3 == 0 ? null : number % 5 == 0 ? "changed " + number : state;
    }

    private static Map<Integer, String> transformed() {
        Map<Integer, String> expected = new HashMap<>();
        for (int key = 0; key < ENTRIES; key++) {
            String state = transform("state " + key);
            if (state != null) {
                expected.put(key, state);
            }
        }
        return expected;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2000, ENTRIES})
    void everyEntry_isWrittenOnce_whereverItLies(int spilled) throws IOException {
        fill(spilled);

        Map<Integer, String> written = written(null);

        assertThat(written).hasSize(ENTRIES);
        written.forEach((key, state) -> assertThat(state).isEqualTo("state " + key));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2000, ENTRIES})
    void whatATransformerDropsOrChanges_isDroppedOrChanged(int spilled) throws IOException {
        fill(spilled);

        assertThat(written(KeyGroupViewTest::transform)).isEqualTo(transformed());
    }

    /** Changes every third state, which has expired when the transformer looks again. */
    @Test
    void whatExpiresAfterItWasCounted_isWrittenAsItIs() throws IOException {
        fill(ENTRIES);
        Set<String> seen = new HashSet<>();

        Map<Integer, String> written =
                written(
                        state -> {
                            if (Integer.parseInt(state.substring("state ".length())) % 3 != 0) {
                                return state;
                            }
                            return seen.add(state) ? "changed" : null;
                        });

        assertThat(seen).hasSize((ENTRIES + 2) / 3);
        assertThat(written).hasSize(ENTRIES);
        written.forEach((key, state) -> assertThat(state).isEqualTo("state " + key));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2000, ENTRIES})
    void asObjects_entriesAreTheSame(int spilled) throws IOException {
        fill(spilled);
        KeyGroupView<Integer, Long, String> view = map.view();
        Map<Integer, String> seen = new HashMap<>();
        // A transformer gives null for what goes; iteration leaves such entries out.
        view.iterator(layout.duplicate(), KeyGroupViewTest::transform)
                .forEachRemaining(entry -> seen.put(entry.getKey(), entry.getState()));
        view.close();

        assertThat(seen).isEqualTo(transformed());
    }

    @Test
    void aPageDamagedAfterItWasRead_failsTheIterationOfASavepointToo() throws IOException {
        fill(ENTRIES);
        assertThat(disks.pool().sealedBytes()).isPositive();
        assertThat(written(null)).as("all pages are read").hasSize(ENTRIES);
        replaceInFiles("state ", "stale ");

        KeyGroupView<Integer, Long, String> view = map.view();
        assertThatThrownBy(
                        () -> view.iterator(layout.duplicate(), null).forEachRemaining(entry -> {}))
                .isInstanceOf(DamagedPartitionException.class);
        view.close();
    }

    private void replaceInFiles(String from, String to) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(disk)) {
            files =
                    all.filter(file -> file.getFileName().toString().startsWith("chunk-"))
                            .collect(Collectors.toList());
        }
        for (Path file : files) {
            String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                for (int at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) {
                    channel.write(ByteBuffer.wrap(to.getBytes(StandardCharsets.ISO_8859_1)), at);
                }
            }
        }
    }

    @Test
    void anEmptyGroup_isANumberOnly() throws IOException {
        assertThat(written(null)).isEmpty();
        assertThat(written(KeyGroupViewTest::transform)).isEmpty();
        KeyGroupView<Integer, Long, String> view = map.view();
        assertThatThrownBy(view.iterator(layout, null)::next)
                .isInstanceOf(NoSuchElementException.class);
        view.close();
    }

    @Test
    void entries_reachTheStreamInLargePieces() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        EntryOutput entries = new EntryOutput(out);
        entries.write(new byte[32 * 1024 - 1]);
        assertThat(out.length()).as("gathered").isZero();
        entries.write(1);
        entries.write(1);
        assertThat(out.length()).isEqualTo(32 * 1024);
        entries.write(new byte[100_000]);
        assertThat(out.length()).as("not gathered").isEqualTo(32 * 1024 + 1 + 100_000);
        entries.writeLong(1);
        entries.flush();
        assertThat(out.length()).isEqualTo(32 * 1024 + 1 + 100_000 + 8);
    }

    /** Counts bytes and remembers the longest piece. */
    private static final class Pieces extends OutputStream {
        long bytes;
        int longest;

        @Override
        public void write(int oneByte) {
            bytes++;
        }

        @Override
        public void write(byte[] written, int offset, int length) {
            bytes += length;
            longest = Math.max(longest, length);
        }
    }

    private <S> Pieces piecesOf(
            TypeSerializer<S> serializer,
            SpilledLayout<Integer, Long, S> stateLayout,
            S state,
            boolean isSpilled)
            throws IOException {
        KeyGroupMap<Integer, Long, S> group =
                new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
        group.put(1, 7L, state, stateLayout);
        if (isSpilled) {
            group.startSpill(disks.pool());
            while (group.residency() == Residency.SPILLING) {
                group.spill(1000, stateLayout);
            }
        }
        Pieces pieces = new Pieces();
        EntryOutput entries = new EntryOutput(new DataOutputViewStreamWrapper(pieces));
        KeyGroupView<Integer, Long, S> view = group.view();
        view.write(
                IntSerializer.INSTANCE,
                LongSerializer.INSTANCE,
                serializer,
                stateLayout.duplicate(),
                null,
                entries);
        entries.flush();
        view.close();
        group.close();
        return pieces;
    }

    /** Otherwise a list or a map that is larger than the heap could not be checkpointed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void longListsAndMaps_areNeverWhollyInMemory(boolean isSpilled) throws IOException {
        List<String> list = new ArrayList<>();
        Map<Integer, String> map = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            list.add("element " + i);
            map.put(i, "value " + i);
        }
        ListSerializer<String> lists = new ListSerializer<>(StringSerializer.INSTANCE);
        MapSerializer<Integer, String> maps =
                new MapSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE);

        Pieces ofList =
                piecesOf(
                        lists,
                        new ListLayout<>(IntSerializer.INSTANCE, LongSerializer.INSTANCE, lists),
                        list,
                        isSpilled);
        Pieces ofMap =
                piecesOf(
                        maps,
                        new MapLayout<>(IntSerializer.INSTANCE, LongSerializer.INSTANCE, maps),
                        map,
                        isSpilled);

        assertPieces(ofList, lists, list);
        assertPieces(ofMap, maps, map);
    }

    /** Asks now and then, while bytes arrive, how many of some objects are reachable. */
    private static final class ReachableObjects extends OutputStream {
        private static final int SAMPLES = 3;
        private final List<WeakReference<Object>> objects = new ArrayList<>();
        private final DataOutputSerializer bytes = new DataOutputSerializer(64);
        private int samples;
        private long mostReachable;

        @Override
        public void write(int oneByte) throws IOException {
            bytes.write(oneByte);
        }

        @Override
        public void write(byte[] written, int offset, int length) throws IOException {
            bytes.write(written, offset, length);
            if (samples < SAMPLES) {
                samples++;
                System.gc();
                mostReachable =
                        Math.max(
                                mostReachable,
                                objects.stream().filter(one -> one.get() != null).count());
            }
        }
    }

    /** Otherwise what a full checkpoint cleans up would fill a heap that is short already. */
    @Test
    void mapsFromWhichSomethingHasExpired_areOnTheHeapOneAtATime() throws IOException {
        MapSerializer<Integer, String> maps =
                new MapSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE);
        MapLayout<Integer, Long, Integer, String> mapLayout =
                new MapLayout<>(IntSerializer.INSTANCE, LongSerializer.INSTANCE, maps);
        KeyGroupMap<Integer, Long, Map<Integer, String>> group =
                new KeyGroupMap<>(maps, new StateIdentity(0, "state", 0), new EntrySizes());
        for (int key = 0; key < ENTRIES; key++) {
            Map<Integer, String> state = new HashMap<>();
            for (int i = 0; i < 4; i++) {
                state.put(i, "value " + key);
            }
            group.put(key, 7L, state, mapLayout);
        }
        group.startSpill(disks.pool());
        while (group.residency() == Residency.SPILLING) {
            group.spill(1000, mapLayout);
        }
        ReachableObjects transformed = new ReachableObjects();
        EntryOutput entries = new EntryOutput(new DataOutputViewStreamWrapper(transformed));
        KeyGroupView<Integer, Long, Map<Integer, String>> view = group.view();
        view.write(
                IntSerializer.INSTANCE,
                LongSerializer.INSTANCE,
                maps,
                mapLayout.duplicate(),
                state -> {
                    Map<Integer, String> kept = new HashMap<>(state);
                    kept.remove(0);
                    transformed.objects.add(new WeakReference<>(kept));
                    return kept;
                },
                entries);
        entries.flush();
        view.close();
        group.close();

        assertThat(transformed.objects).hasSizeGreaterThanOrEqualTo(ENTRIES);
        assertThat(transformed.samples).isEqualTo(ReachableObjects.SAMPLES);
        assertThat(transformed.mostReachable).isLessThan(10);
        DataInputDeserializer in = new DataInputDeserializer(transformed.bytes.getCopyOfBuffer());
        assertThat(in.readInt()).isEqualTo(ENTRIES);
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < ENTRIES; i++) {
            assertThat(in.readLong()).isEqualTo(7L);
            int key = in.readInt();
            assertThat(keys.add(key)).isTrue();
            assertThat(maps.deserialize(in)).hasSize(3).containsEntry(3, "value " + key);
        }
        assertThat(in.available()).isZero();
    }

    private static <S> void assertPieces(Pieces pieces, TypeSerializer<S> serializer, S state)
            throws IOException {
        DataOutputSerializer expected = new DataOutputSerializer(64);
        serializer.serialize(state, expected);
        assertThat(pieces.bytes)
                .as("number of entries, namespace, key, state")
                .isEqualTo(4 + 8 + 4 + expected.length());
        assertThat(pieces.longest).isLessThan(64 << 10);
    }
}
