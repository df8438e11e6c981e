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

import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.overlay.SpillSpace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.IntPredicate;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.IntValueSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;
import org.apache.flink.types.IntValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cleaning up maps that are visited whole. Flink gives back a copy of each, expired or not. */
class SmallMapVisitTest {

    private static final int KEYS = 100;
    private static final int OTHER_KEY = 2;

    @TempDir Path disk;
    private SpillSpace space;
    private CurrentKey<Integer> currentKey;
    private StateTable<Integer, VoidNamespace, Map<Integer, IntValue>> table;

    @BeforeEach
    void fill() {
        space = PoolOnDisk.space(disk, 4 << 20);
        currentKey = new CurrentKey<>(new KeyGroupRange(0, 0), 1);
        currentKey.setCurrentKey(0);
        table =
                new StateTable<>(
                        currentKey,
                        new RegisteredKeyValueStateBackendMetaInfo<>(
                                StateDescriptor.Type.MAP,
                                "state",
                                VoidNamespaceSerializer.INSTANCE,
                                new MapSerializer<>(
                                        IntSerializer.INSTANCE, IntValueSerializer.INSTANCE)),
                        IntSerializer.INSTANCE,
                        space);
        for (int key = 1; key <= KEYS; key++) {
            Map<Integer, IntValue> map = new HashMap<>();
            for (int userKey = 1; userKey <= 3; userKey++) {
                map.put(userKey, new IntValue(userKey));
            }
            table.entries().put(key, 0, VoidNamespace.INSTANCE, map);
        }
    }

    @AfterEach
    void close() throws IOException {
        table.close();
        space.close();
    }

    private Map<Integer, IntValue> get(int key) {
        return table.entries().get(key, 0, VoidNamespace.INSTANCE);
    }

    private void spill() throws IOException {
        table.placement().startSpill(0);
        table.placement().spill(0, Integer.MAX_VALUE);
    }

    /** Goes over the maps as the clean-up of Flink does, as far as the visitor gives any. */
    private void cleanUp(
            StateIncrementalVisitor<Integer, VoidNamespace, Map<Integer, IntValue>> visitor,
            IntPredicate expired) {
        Collection<StateEntry<Integer, VoidNamespace, Map<Integer, IntValue>>> entries =
                visitor.nextEntries();
        while (!entries.isEmpty()) {
            for (StateEntry<Integer, VoidNamespace, Map<Integer, IntValue>> entry : entries) {
                Map<Integer, IntValue> kept = new HashMap<>(entry.getState());
                kept.keySet().removeIf(expired::test);
                if (kept.isEmpty()) {
                    visitor.remove(entry);
                } else {
                    visitor.update(entry, kept);
                }
            }
            entries = visitor.nextEntries();
        }
    }

    private void cleanUpAll(IntPredicate expired) {
        StateIncrementalVisitor<Integer, VoidNamespace, Map<Integer, IntValue>> visitor =
                table.visitor(5);
        cleanUp(visitor, expired);
        assertThat(visitor.hasNext()).isFalse();
    }

    @Test
    void spilledMapsOfWhichNothingHasExpired_areNotWritten() throws IOException {
        spill();
        long written = space.open().putBytes();

        cleanUpAll(userKey -> false);

        assertThat(space.open().putBytes()).isEqualTo(written);
        assertThat(table.size()).isEqualTo(KEYS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aVisit_doesNotCountAsAnAccess(boolean spilled) throws IOException {
        if (spilled) {
            spill();
        }
        double heat = table.placement().heat(0);

        cleanUpAll(userKey -> false);

        assertThat(table.placement().heat(0)).isEqualTo(heat);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatHasExpired_goes(boolean spilled) throws IOException {
        if (spilled) {
            spill();
        }

        cleanUpAll(userKey -> userKey != 2);

        assertThat(table.size()).isEqualTo(KEYS);
        for (int key = 1; key <= KEYS; key++) {
            assertThat(get(key)).containsOnlyKeys(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void mapsOfWhichAllHasExpired_areGone(boolean spilled) throws IOException {
        if (spilled) {
            spill();
        }

        cleanUpAll(userKey -> true);

        assertThat(table.size()).isZero();
    }

    @Test
    void anIteratorOfTheJob_changesTheMap_afterAVisit() {
        currentKey.setCurrentKey(1);
        Iterator<Map.Entry<Integer, IntValue>> job = get(1).entrySet().iterator();
        int removed = job.next().getKey();

        cleanUpAll(userKey -> false);

        job.remove();
        Map.Entry<Integer, IntValue> next = job.next();
        next.setValue(new IntValue(7));
        assertThat(get(1))
                .doesNotContainKey(removed)
                .containsEntry(next.getKey(), new IntValue(7))
                .hasSize(2);
    }

    @Test
    void whatTheJobIteratesOver_expiresWhenAnotherKeyIsSelected() {
        currentKey.setCurrentKey(1);
        Iterator<Map.Entry<Integer, IntValue>> job = get(1).entrySet().iterator();
        job.next();
        StateIncrementalVisitor<Integer, VoidNamespace, Map<Integer, IntValue>> visitor =
                table.visitor(5);

        cleanUp(visitor, userKey -> userKey != 2);

        assertThat(visitor.hasNext()).isTrue();
        assertThat(get(1)).hasSize(3);
        assertThat(job).toIterable().hasSize(2);
        currentKey.setCurrentKey(OTHER_KEY);
        cleanUp(visitor, userKey -> userKey != 2);
        currentKey.setCurrentKey(1);
        cleanUp(visitor, userKey -> userKey != 2);
        assertThat(visitor.hasNext()).isFalse();
        for (int key = 1; key <= KEYS; key++) {
            assertThat(get(key)).containsOnlyKeys(2);
        }
    }

    @Test
    void aValueThatTheJobSetsInAMapOfWhichAllHasExpired_stays() {
        currentKey.setCurrentKey(1);
        Map.Entry<Integer, IntValue> entry = get(1).entrySet().iterator().next();
        StateIncrementalVisitor<Integer, VoidNamespace, Map<Integer, IntValue>> visitor =
                table.visitor(5);

        cleanUp(visitor, userKey -> true);
        entry.setValue(new IntValue(7));
        currentKey.setCurrentKey(KEYS + 1);
        cleanUp(visitor, userKey -> true);

        assertThat(visitor.hasNext()).isFalse();
        assertThat(table.size()).isEqualTo(1);
        assertThat(get(1)).containsOnly(Map.entry(entry.getKey(), new IntValue(7)));
    }

    @Test
    void whatHasExpired_goesAtOnce_thoughASnapshotHasTheMap() {
        currentKey.setCurrentKey(1);
        TableView<Integer, VoidNamespace, Map<Integer, IntValue>> view = table.view();
        StateIncrementalVisitor<Integer, VoidNamespace, Map<Integer, IntValue>> visitor =
                table.visitor(5);

        cleanUp(visitor, userKey -> userKey != 2);
        currentKey.setCurrentKey(KEYS + 1);
        cleanUp(visitor, userKey -> userKey != 2);

        assertThat(get(1)).containsOnlyKeys(2);
        view.close();
    }
}
