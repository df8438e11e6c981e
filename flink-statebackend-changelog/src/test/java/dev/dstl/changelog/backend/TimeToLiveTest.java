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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TimeToLiveTest {

    /** Several values are more than replay gives to RocksDB in one batch. */
    private static final int LARGE = 400 << 10;

    @TempDir private Path directory;

    @Test
    void incrementalCleanup_removesExpiredEntriesFromTheDelegate_andTheyStayRemoved()
            throws Exception {
        ValueStateDescriptor<String> descriptor =
                new ValueStateDescriptor<>("short-lived", String.class);
        descriptor.enableTimeToLive(
                StateTtlConfig.newBuilder(Duration.ofMillis(1))
                        .cleanupIncrementally(100, true)
                        .build());
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            for (int key = 0; key < 50; key++) {
                task.state(key, descriptor).update("v");
            }
            long expired = System.currentTimeMillis() + 2;
            while (System.currentTimeMillis() <= expired) {
                Thread.onSpinWait();
            }
            for (int key = 0; key < 1000; key++) {
                task.backend().setCurrentKey(key);
            }
            assertThat(task.changelog().numKeyValueStateEntries()).isZero();
            task.checkpoint(1);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            assertThat(task.state(1, descriptor).value()).isNull();
        }
    }

    static Stream<Arguments> changesOfMind() {
        return Stream.of(
                        Delegate.HASHMAP,
                        Delegate.ROCKSDB_INCREMENTAL,
                        Delegate.SPILLABLE_INCREMENTAL)
                .flatMap(
                        delegate ->
                                Stream.of(
                                        Arguments.of(delegate, false),
                                        Arguments.of(delegate, true)));
    }

    @ParameterizedTest(name = "{0}, with a time to live at first: {1}")
    @MethodSource("changesOfMind")
    void timeToLiveSwitchedOnOrOff_isRefusedWhereFlinkRefusesIt_andTheCheckpointStaysRestorable(
            Delegate delegate, boolean first) throws Exception {
        assumeThat(delegate.convertsTimeToLive()).isFalse();
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.state(1, value(first)).update("v");
            task.checkpoint(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThatThrownBy(() -> task.state(1, value(!first)))
                    .isInstanceOf(StateMigrationException.class);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.state(1, value(first)).value()).isEqualTo("v");
        }
    }

    @ParameterizedTest(name = "{0}, with a time to live at first: {1}")
    @MethodSource("changesOfMind")
    void timeToLiveSwitchedOnOrOff_keepsTheState_whereFlinkConvertsIt(
            Delegate delegate, boolean first) throws Exception {
        assumeThat(delegate.convertsTimeToLive()).isTrue();
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            put(task, 1, first, "in the base");
            task.materialize();
            put(task, 2, first, "in the changelog");
            task.checkpoint(1);
        }
        boolean timeToLive = first;
        for (int checkpoint = 2; checkpoint < 6; checkpoint++) {
            timeToLive = checkpoint == 3 ? timeToLive : !timeToLive;
            try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
                requireIn(task, 1, timeToLive, "in the base");
                requireIn(task, 2, timeToLive, "in the changelog");
                for (int key = 3; key <= checkpoint; key++) {
                    requireIn(task, key, timeToLive, "added");
                }
                put(task, checkpoint + 1, timeToLive, "added");
                task.checkpoint(checkpoint);
            }
        }
    }

    /** As when a state is registered on first use, and one subtask has not used it since. */
    @ParameterizedTest(name = "{0}, with a time to live in the first subtask: {1}")
    @MethodSource("changesOfMind")
    void timeToLiveThatNotAllSubtasksHave_keepsTheState_whereFlinkConvertsIt(
            Delegate delegate, boolean first) throws Exception {
        assumeThat(delegate.convertsTimeToLive()).isTrue();
        KeyGroupRange all = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);
        List<KeyGroupRange> subtasks =
                List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, TestTask.KEY_GROUPS - 1));
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (KeyGroupRange keyGroups : subtasks) {
            try (KeyedTask<Integer> task = startSubtask(delegate, keyGroups, List.of())) {
                MapStateDescriptor<String, String> state = map(first == handles.isEmpty());
                for (int key : keysIn(keyGroups)) {
                    task.state(key, state).put("large", "x".repeat(LARGE));
                }
                handles.add(task.checkpoint(1));
            }
        }
        for (boolean timeToLive : new boolean[] {true, false}) {
            try (KeyedTask<Integer> task = startSubtask(delegate, all, handles)) {
                for (int key : keysIn(all)) {
                    assertThat(task.state(key, map(timeToLive)).get("large"))
                            .as("key %s", key)
                            .hasSize(LARGE);
                }
            }
        }
    }

    private KeyedTask<Integer> startSubtask(
            Delegate delegate, KeyGroupRange keyGroups, List<KeyedStateHandle> restored)
            throws Exception {
        return KeyedTask.startSubtask(
                directory,
                delegate,
                IntSerializer.INSTANCE,
                getClass().getClassLoader(),
                keyGroups,
                restored);
    }

    private static int[] keysIn(KeyGroupRange keyGroups) {
        return IntStream.range(0, 20)
                .filter(
                        key ->
                                keyGroups.contains(
                                        KeyGroupRangeAssignment.assignToKeyGroup(
                                                key, TestTask.KEY_GROUPS)))
                .toArray();
    }

    private static void put(TestTask task, int key, boolean timeToLive, String what)
            throws Exception {
        task.state(key, value(timeToLive)).update(what);
        task.state(key, list(timeToLive)).addAll(List.of(what, "too"));
        task.state(key, map(timeToLive)).put(what, "mapped");
    }

    private static void requireIn(TestTask task, int key, boolean timeToLive, String what)
            throws Exception {
        assertThat(task.state(key, value(timeToLive)).value()).isEqualTo(what);
        assertThat(task.state(key, list(timeToLive)).get()).containsExactly(what, "too");
        assertThat(task.state(key, map(timeToLive)).get(what)).isEqualTo("mapped");
        assertThat(task.state(key, map(timeToLive)).keys()).containsExactly(what);
    }

    private static ValueStateDescriptor<String> value(boolean timeToLive) {
        return hours(new ValueStateDescriptor<>("value", String.class), timeToLive);
    }

    private static ListStateDescriptor<String> list(boolean timeToLive) {
        return hours(new ListStateDescriptor<>("list", String.class), timeToLive);
    }

    private static MapStateDescriptor<String, String> map(boolean timeToLive) {
        return hours(new MapStateDescriptor<>("map", String.class, String.class), timeToLive);
    }

    private static <D extends StateDescriptor<?, ?>> D hours(D descriptor, boolean timeToLive) {
        if (timeToLive) {
            descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofHours(1)).build());
        }
        return descriptor;
    }
}
