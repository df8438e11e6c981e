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
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cleaning up a large map of which some user entries have expired. */
class LargeMapVisitTest {

    private static final int SIZE = 5000;
    private static final int KEY = 1;

    @TempDir Path disk;
    private SpillSpace space;
    private CurrentKey<Integer> currentKey;
    private StateTable<Integer, VoidNamespace, Map<Integer, Integer>> table;
    private int largest;

    @BeforeEach
    void fill() {
        space = PoolOnDisk.space(disk, 4 << 20);
        currentKey = new CurrentKey<>(new KeyGroupRange(0, 0), 1);
        table =
                new StateTable<>(
                        currentKey,
                        new RegisteredKeyValueStateBackendMetaInfo<>(
                                StateDescriptor.Type.MAP,
                                "state",
                                VoidNamespaceSerializer.INSTANCE,
                                new MapSerializer<>(
                                        IntSerializer.INSTANCE, IntSerializer.INSTANCE)),
                        IntSerializer.INSTANCE,
                        space);
        put(KEY, SIZE);
        put(2, 3);
        put(3, 10);
    }

    @AfterEach
    void close() throws IOException {
        table.close();
        space.close();
    }

    private void put(int key, int size) {
        Map<Integer, Integer> map = new HashMap<>();
        for (int i = 0; i < size; i++) {
            map.put(i, i);
        }
        table.entries().put(key, 0, VoidNamespace.INSTANCE, map);
    }

    private Map<Integer, Integer> get(int key) {
        return table.entries().get(key, 0, VoidNamespace.INSTANCE);
    }

    private void spill() throws IOException {
        table.placement().startSpill(0);
        table.placement().spill(0, Integer.MAX_VALUE);
    }

    /** Goes over all entries and removes user entries as the clean-up of Flink does. */
    private void cleanUp(int keptOf, StepBetween between) throws IOException {
        StateIncrementalVisitor<Integer, VoidNamespace, Map<Integer, Integer>> visitor =
                table.visitor(5);
        while (visitor.hasNext()) {
            Collection<StateEntry<Integer, VoidNamespace, Map<Integer, Integer>>> entries =
                    visitor.nextEntries();
            for (StateEntry<Integer, VoidNamespace, Map<Integer, Integer>> entry : entries) {
                Map<Integer, Integer> state = entry.getState();
                largest = Math.max(largest, state.size());
                Map<Integer, Integer> kept = new HashMap<>(state);
                kept.keySet().removeIf(userKey -> keptOf == 0 || userKey % keptOf != 0);
                if (kept.isEmpty() && !state.isEmpty()) {
                    visitor.remove(entry);
                } else if (kept.size() != state.size()) {
                    visitor.update(entry, kept);
                }
            }
            between.run();
        }
    }

    /** What happens between two steps of the clean-up. */
    private interface StepBetween {
        void run() throws IOException;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLargeMap_isCleanedUpInSlices(boolean spilled) throws IOException {
        if (spilled) {
            spill();
        }

        cleanUp(2, () -> {});

        assertThat(get(KEY)).hasSize(SIZE / 2).doesNotContainKey(1).containsEntry(2, 2);
        assertThat(get(2)).containsOnlyKeys(0, 2);
        assertThat(largest).as("user entries in one step").isBetween(10, 128);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMapOfWhichAllHasExpired_isGone(boolean spilled) throws IOException {
        if (spilled) {
            spill();
        }

        cleanUp(0, () -> {});

        assertThat(get(KEY)).isNull();
        assertThat(table.size()).isZero();
    }

    @Test
    void aMapThatTheJobIteratesOver_isCleanedUpAfterwards() throws IOException {
        currentKey.setCurrentKey(KEY);
        Iterator<Map.Entry<Integer, Integer>> job = get(KEY).entrySet().iterator();
        Set<Integer> met = new HashSet<>();

        cleanUp(
                2,
                () -> {
                    for (int i = 0; i < 50 && job.hasNext(); i++) {
                        met.add(job.next().getKey());
                    }
                    if (!job.hasNext()) {
                        currentKey.setCurrentKey(KEY);
                    }
                });

        assertThat(met).hasSize(SIZE);
        assertThat(get(KEY)).hasSize(SIZE / 2).doesNotContainKey(1).containsEntry(2, 2);
    }

    @Test
    void aUserKeyThatTheJobHasSetSinceItExpired_stays() throws IOException {
        currentKey.setCurrentKey(KEY);

        cleanUp(
                2,
                () -> {
                    get(KEY).put(1, 1000);
                    currentKey.setCurrentKey(KEY);
                });

        assertThat(get(KEY)).hasSize(SIZE / 2 + 1).containsEntry(1, 1000);
    }

    @Test
    void aMapThatMovesMeanwhile_losesNothingElse() throws IOException {
        Random random = new Random(1);
        cleanUp(
                3,
                () -> {
                    switch (table.placement().residency(0)) {
                        case ON_HEAP:
                            table.placement().startSpill(0);
                            break;
                        case SPILLING:
                            table.placement().spill(0, random.nextInt(20));
                            break;
                        case SPILLED:
                            table.placement().startLoad(0);
                            break;
                        default:
                            table.placement().load(0, random.nextInt(20));
                    }
                });

        Map<Integer, Integer> left = get(KEY);
        for (int userKey = 0; userKey < SIZE; userKey += 3) {
            assertThat(left).containsEntry(userKey, userKey);
        }
        assertThat(left).hasSizeLessThan(SIZE);
    }
}
