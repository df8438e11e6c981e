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

import dev.dstl.spillable.layout.CountingSerializer;
import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.PlainLayout;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.spill.PickySerializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StateTableTest {

    private static final int KEY_GROUPS = 8;
    private static final int KEYS = 400;

    @TempDir Path disk;
    private SpillSpace space;
    private final CurrentKey<Integer> currentKey =
            new CurrentKey<>(new KeyGroupRange(0, KEY_GROUPS - 1), KEY_GROUPS);
    private StateTable<Integer, Long, String> table;

    @BeforeEach
    void open() {
        space = PoolOnDisk.space(disk, 1 << 20);
        table = table(StateDescriptor.Type.VALUE, StringSerializer.INSTANCE);
    }

    @AfterEach
    void close() throws IOException {
        table.close();
        space.close();
    }

    private <S> StateTable<Integer, Long, S> table(
            StateDescriptor.Type type, TypeSerializer<S> serializer) {
        return new StateTable<>(
                currentKey, metaInfo(type, serializer), IntSerializer.INSTANCE, space);
    }

    private static <S> RegisteredKeyValueStateBackendMetaInfo<Long, S> metaInfo(
            StateDescriptor.Type type, TypeSerializer<S> serializer) {
        return new RegisteredKeyValueStateBackendMetaInfo<>(
                type, "my state", LongSerializer.INSTANCE, serializer);
    }

    private static int keyGroup(int key) {
        return KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS);
    }

    private static int keyOfGroup0() {
        int key = 0;
        while (keyGroup(key) != 0) {
            key++;
        }
        return key;
    }

    private void select(int key) {
        currentKey.setCurrentKey(key);
        currentKey.setCurrentKeyGroupIndex(keyGroup(key));
    }

    private void fill() {
        for (int key = 0; key < KEYS; key++) {
            table.entries().put(key, keyGroup(key), (long) (key % 3), "state " + key);
        }
    }

    /** Groups in all residencies. */
    private void spread() throws IOException {
        TablePlacement placement = table.placement();
        for (int position = 1; position < placement.groupCount(); position++) {
            placement.startSpill(position);
            placement.spill(position, position % 2 == 0 ? Integer.MAX_VALUE : 5);
            if (position % 3 == 0) {
                placement.startLoad(position);
            }
        }
    }

    @Test
    void theCurrentEntry_andTheEntryOfThatKey_areTheSame() throws IOException {
        fill();
        spread();
        for (int key = 0; key < KEYS; key++) {
            select(key);
            long namespace = key % 3;
            CurrentEntry<Integer, Long, String> current = table.current();
            assertThat(current.key()).isEqualTo(key);
            assertThat(current.keyGroup()).isEqualTo(keyGroup(key));
            assertThat(current.get(namespace)).isEqualTo("state " + key);

            current.put(namespace, "changed " + key);
            assertThat(table.entries().get(key, keyGroup(key), namespace))
                    .isEqualTo("changed " + key);
            table.entries().put(key, keyGroup(key), namespace, "again " + key);
            assertThat(current.get(namespace)).isEqualTo("again " + key);

            if (key % 2 == 0) {
                assertThat(current.removeAndGet(namespace)).isEqualTo("again " + key);
            } else {
                current.remove(namespace);
            }
            assertThat(table.entries().get(key, keyGroup(key), namespace)).isNull();
            assertThat(current.removeAndGet(namespace)).isNull();
        }
        assertThat(table.size()).isZero();
    }

    @Test
    void anEntry_isOnTheHeapOrHasASpilledHome() throws IOException {
        fill();
        spread();
        for (int key = 0; key < KEYS; key++) {
            select(key);
            long namespace = key % 3;
            boolean onHeap = table.current().heapState(namespace) != null;
            assertThat(table.entries().heapState(key, keyGroup(key), namespace) != null)
                    .isEqualTo(onHeap);
            assertThat(table.entries().spilled(key, keyGroup(key), namespace) == null)
                    .isEqualTo(onHeap);
            if (!onHeap) {
                assertThat(table.current().spilledHome(namespace)).isNotNull();
                assertThat(table.entries().spilledHome(key, keyGroup(key), namespace))
                        .isSameAs(table.current().spilledHome(namespace));
            }
        }
    }

    @Test
    void aKeyObjectThatIsUsedAgain_isAnotherKeyAtItsNextSelection() throws IOException {
        CurrentKey<List<Integer>> selected = new CurrentKey<>(new KeyGroupRange(0, 0), 1);
        StateTable<List<Integer>, Long, String> mutable =
                new StateTable<>(
                        selected,
                        metaInfo(StateDescriptor.Type.VALUE, StringSerializer.INSTANCE),
                        new ListSerializer<>(IntSerializer.INSTANCE),
                        space);
        mutable.placement().startSpill(0);
        List<Integer> key = new ArrayList<>(Arrays.asList(1));
        Long namespace = 0L;
        selected.setCurrentKey(key);
        mutable.current().put(namespace, "of 1");
        key.set(0, 2);
        selected.setCurrentKey(key);
        mutable.current().put(namespace, "of 2");
        key.set(0, 1);
        selected.setCurrentKey(key);

        assertThat(mutable.current().get(namespace)).isEqualTo("of 1");
        assertThat(mutable.size()).isEqualTo(2);
        mutable.close();
    }

    @Test
    void everySelection_isAnEpochOfItsOwn() {
        assertThat(currentKey.epoch()).isZero();
        select(1);
        long first = currentKey.epoch();
        select(1);

        assertThat(currentKey.epoch()).isGreaterThan(first);
        assertThat(currentKey.getNumberOfKeyGroups()).isEqualTo(KEY_GROUPS);
        assertThat(currentKey.getCurrentKeyGroupIndex()).isEqualTo(keyGroup(1));
    }

    @Test
    void transform_setsWhatItMakesOfTheState_andNothingIfItFails() throws Exception {
        select(1);
        table.current().transform(0L, "a", (previous, added) -> previous + added);
        assertThat(table.current().get(0L)).isEqualTo("nulla");

        assertThatThrownBy(
                        () ->
                                table.current()
                                        .transform(
                                                0L,
                                                "b",
                                                (previous, added) -> {
                                                    throw new IllegalArgumentException(added);
                                                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("b");
        assertThat(table.current().get(0L)).isEqualTo("nulla");
    }

    @Test
    void withoutAKeyOrNamespace_anAccessSaysSo() {
        assertThatThrownBy(() -> table.current().get(0L))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("No key set");
        select(1);
        assertThatThrownBy(() -> table.current().put(null, "state"))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("namespace is null");
    }

    @Test
    void aKeyGroupOfAnotherTask_isNamedWithTheRange() {
        assertThatThrownBy(() -> table.entries().get(1, KEY_GROUPS, 0L))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "Key group 8 is not in KeyGroupRange{startKeyGroup=0, endKeyGroup=7}");
    }

    @Test
    void keys_areAllKeysOfOneNamespaceOrOfAll() throws IOException {
        fill();
        spread();

        assertThat(table.keys(1L).sorted().collect(Collectors.toList()))
                .hasSize(133)
                .allMatch(key -> key % 3 == 1);
        assertThat(table.keysAndNamespaces().collect(Collectors.toList()))
                .hasSize(KEYS)
                .doesNotHaveDuplicates()
                .contains(Tuple2.of(5, 2L));
        assertThat(table.size()).isEqualTo(KEYS);
    }

    @Test
    void keysOfTheGroupBeingRead_mayGoMeanwhile() {
        fill();
        table.keysAndNamespaces()
                .forEach(
                        kn -> {
                            select(kn.f0);
                            table.current().remove(kn.f1);
                        });

        assertThat(table.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1000})
    void aVisitor_meetsEveryEntryOnce_andChangesIt(int step) throws IOException {
        fill();
        spread();
        StateIncrementalVisitor<Integer, Long, String> visitor = table.visitor(step);
        Set<Integer> met = new HashSet<>();
        while (visitor.hasNext()) {
            Collection<StateEntry<Integer, Long, String>> entries = visitor.nextEntries();
            assertThat(entries).hasSizeLessThanOrEqualTo(step);
            for (StateEntry<Integer, Long, String> entry : entries) {
                assertThat(met.add(entry.getKey())).as("met twice").isTrue();
                assertThat(entry.getState()).isEqualTo("state " + entry.getKey());
                if (entry.getKey() % 2 == 0) {
                    visitor.remove(entry);
                } else {
                    visitor.update(entry, "visited");
                }
            }
        }

        assertThat(met).hasSize(KEYS);
        assertThat(visitor.nextEntries()).isEmpty();
        assertThat(table.size()).isEqualTo(KEYS / 2);
        assertThat(table.entries().get(7, keyGroup(7), 1L)).isEqualTo("visited");
        assertThat(table.entries().get(8, keyGroup(8), 2L)).isNull();
    }

    @Test
    void aStepOfAVisitor_readsFewKeys_ofLargeSpilledGroups() throws IOException {
        StateTable<Integer, Long, String> large =
                new StateTable<>(
                        currentKey,
                        metaInfo(StateDescriptor.Type.VALUE, StringSerializer.INSTANCE),
                        new CountingSerializer(),
                        space);
        for (int key = 0; key < 50_000; key++) {
            large.entries().put(key, keyGroup(key), 1L, "state");
        }
        TablePlacement placement = large.placement();
        for (int position = 0; position < placement.groupCount(); position++) {
            placement.startSpill(position);
            placement.spill(position, Integer.MAX_VALUE);
        }
        StateIncrementalVisitor<Integer, Long, String> visitor = large.visitor(5);
        int met = 0;
        while (visitor.hasNext()) {
            CountingSerializer.reset();
            met += visitor.nextEntries().size();
            assertThat(CountingSerializer.deserialized()).isLessThanOrEqualTo(16 * 5);
        }

        assertThat(met).isEqualTo(50_000);
        large.close();
    }

    @Test
    void aQuery_findsEntriesOnBothSides_fromAnotherThread() throws Exception {
        fill();
        spread();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        Future<List<String>> queried =
                thread.submit(
                        () -> {
                            List<String> states = new ArrayList<>();
                            for (int key = 0; key < KEYS; key++) {
                                states.add(query(key, (long) (key % 3)));
                            }
                            states.add(query(KEYS, 0L));
                            return states;
                        });
        List<String> states = queried.get();
        thread.shutdown();

        for (int key = 0; key < KEYS; key++) {
            assertThat(states.get(key)).isEqualTo("state " + key);
        }
        assertThat(states.get(KEYS)).isNull();
    }

    private String query(int key, long namespace) {
        return table.query(
                key,
                namespace,
                IntSerializer.INSTANCE,
                LongSerializer.INSTANCE,
                StringSerializer.INSTANCE,
                state -> state);
    }

    @Test
    void aStateThatChangesWhileAQuerySerializesIt_isReadAgain() throws IOException {
        fill();
        AtomicInteger looks = new AtomicInteger();
        String queried =
                table.query(
                        1,
                        1L,
                        IntSerializer.INSTANCE,
                        LongSerializer.INSTANCE,
                        StringSerializer.INSTANCE,
                        state -> {
                            if (looks.incrementAndGet() < 3) {
                                throw new ConcurrentModificationException();
                            }
                            return state;
                        });

        assertThat(queried).isEqualTo("state 1");
    }

    @Test
    void newSerializers_rewriteWhatIsSpilledIfTheBytesDiffer() throws IOException {
        fill();
        spread();
        table.setMetaInfo(metaInfo(StateDescriptor.Type.VALUE, StringSerializer.INSTANCE), true);

        for (int key = 0; key < KEYS; key++) {
            assertThat(table.entries().get(key, keyGroup(key), (long) (key % 3)))
                    .isEqualTo("state " + key);
        }
    }

    @Test
    @SuppressWarnings("deprecation") // what Flink restores of states of older versions
    void aStateWhoseLayoutChanges_isRewritten() throws IOException {
        StateTable<Integer, Long, List<String>> lists =
                table(
                        StateDescriptor.Type.UNKNOWN,
                        new ListSerializer<>(StringSerializer.INSTANCE));
        assertThat(lists.current().layout()).isInstanceOf(PlainLayout.class);
        lists.placement().startSpill(keyGroup(1));
        lists.entries().put(1, keyGroup(1), 0L, Arrays.asList("a", "b"));

        lists.setMetaInfo(
                metaInfo(
                        StateDescriptor.Type.LIST, new ListSerializer<>(StringSerializer.INSTANCE)),
                false);

        assertThat(lists.entries().layout()).isInstanceOf(ListLayout.class);
        assertThat(lists.entries().get(1, keyGroup(1), 0L)).containsExactly("a", "b");
        lists.close();
    }

    @Test
    void aStateThatCannotBeWritten_isNamed() throws IOException {
        StateTable<Integer, Long, String> refusing =
                table(StateDescriptor.Type.VALUE, new RefusingSerializer());
        refusing.placement().startSpill(0);
        select(keyOfGroup0());

        assertThatThrownBy(() -> refusing.current().put(0L, "state"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("Cannot write spilled state 'my state'")
                .hasRootCauseMessage("refused");
        refusing.close();
    }

    @Test
    void whatASerializerThrows_isTheCauseOfTheJobsFailure() throws IOException {
        StateTable<Integer, Long, String> picky =
                table(StateDescriptor.Type.VALUE, new PickySerializer());
        picky.placement().startSpill(0);
        select(keyOfGroup0());

        assertThatThrownBy(() -> picky.current().put(0L, PickySerializer.INCOMPLETE))
                .hasMessage("Cannot write spilled state 'my state'")
                .cause()
                .isInstanceOf(NullPointerException.class)
                .hasMessage("no address");
        picky.close();
    }

    @Test
    void placement_tellsWhereEntriesAre() throws IOException {
        fill();
        TablePlacement placement = table.placement();
        int entries = placement.heapEntries(2);
        assertThat(placement.residency(2)).isEqualTo(Residency.ON_HEAP);
        placement.startSpill(2);
        placement.spill(2, 3);

        assertThat(placement.heapEntries(2)).isEqualTo(entries - 3);
        assertThat(placement.spilledEntries(2)).isEqualTo(3);
        placement.startLoad(2);
        assertThat(placement.load(2, Integer.MAX_VALUE)).isEqualTo(3);
        assertThat(placement.residency(2)).isEqualTo(Residency.ON_HEAP);
        double heat = placement.heat(2);
        placement.coolDown();
        placement.coolDown();
        assertThat(placement.heat(2)).isEqualTo(heat / 2);
        assertThat(placement.groupCount()).isEqualTo(KEY_GROUPS);
    }
}
