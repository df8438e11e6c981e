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

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.BuiltInChangelog;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same steps with Flink's built-in changelog and with DSTL, as compared in the README. */
class BuiltInContrastTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);
    private static final List<KeyGroupRange> HALVES =
            List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7));
    private static final int KEY = 1;

    @TempDir private Path directory;

    enum Changelog {
        FLINKS,
        DSTL
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void parallelismOneTwoOne_withinOneMaterialization(Changelog changelog) throws Exception {
        List<KeyedStateHandle> handles = new ArrayList<>();
        try (TestTask task = start(changelog, Delegate.HASHMAP, ALL, List.of())) {
            task.list(KEY).add("only once");
            handles.add(task.checkpoint(1));
        }
        List<KeyedStateHandle> parts = new ArrayList<>();
        for (KeyGroupRange half : HALVES) {
            try (TestTask task = start(changelog, Delegate.HASHMAP, half, cut(handles, half))) {
                parts.add(task.checkpoint(2));
            }
        }

        try (TestTask task = start(changelog, Delegate.HASHMAP, ALL, parts)) {
            List<String> elements = new ArrayList<>();
            task.list(KEY).get().forEach(elements::add);
            assertThat(elements).hasSize(changelog == Changelog.DSTL ? 1 : 2);
        }
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void parallelismOneTwoOne_whereOnlyOneOfTheTwoMaterialized(Changelog changelog)
            throws Exception {
        Delegate rocksDb = Delegate.ROCKSDB_INCREMENTAL;
        List<KeyedStateHandle> handles = new ArrayList<>();
        try (TestTask task = start(changelog, rocksDb, ALL, List.of())) {
            task.value(KEY).update("removed later");
            materialize(task);
            handles.add(task.checkpoint(1));
        }
        List<KeyedStateHandle> parts = new ArrayList<>();
        for (KeyGroupRange half : HALVES) {
            try (TestTask task = start(changelog, rocksDb, half, cut(handles, half))) {
                if (EveryState.owns(half, KEY)) {
                    task.value(KEY).clear();
                    materialize(task);
                }
                parts.add(task.checkpoint(2));
            }
        }

        try (TestTask task = start(changelog, rocksDb, ALL, parts)) {
            assertThat(task.value(KEY).value())
                    .isEqualTo(changelog == Changelog.DSTL ? null : "removed later");
        }
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void intermediateNativeSavepoint_andMaterializationAfterIt(Changelog changelog)
            throws Exception {
        try (TestTask task = start(changelog, Delegate.ROCKSDB_INCREMENTAL, ALL, List.of())) {
            task.value(KEY).update("one");
            materialize(task);
            task.checkpoint(1);
            ((CheckpointListener) task.backend()).notifyCheckpointComplete(1);
            TestTask.finish(task.trigger(2, SavepointType.savepoint(SavepointFormatType.NATIVE)));
            task.value(KEY).update("two");
            task.checkpoint(3);
            ((CheckpointListener) task.backend()).notifyCheckpointComplete(3);

            if (changelog == Changelog.DSTL) {
                materialize(task);
            } else {
                assertThatThrownBy(() -> materialize(task))
                        .as("Flink's own changelog does not begin another materialization")
                        .isInstanceOf(NoSuchElementException.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void timersOnTheHeapOfRocksDb_fromBeforeTheMaterialization(Changelog changelog)
            throws Exception {
        Delegate heapTimers = Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP;
        KeyedStateHandle handle;
        try (TestTask task = start(changelog, heapTimers, ALL, List.of())) {
            task.backend().setCurrentKey(KEY);
            task.timers().add(TestTask.timer(KEY, 10));
            materialize(task);
            task.timers().add(TestTask.timer(KEY, 20));
            handle = task.checkpoint(1);
        }

        try (TestTask task = start(changelog, heapTimers, ALL, List.of(handle))) {
            if (changelog == Changelog.DSTL) {
                assertThat(task.timerTimes()).containsExactly(10L, 20L);
            } else {
                assertThat(task.timerTimes()).containsExactly(20L);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void nullInAMap(Changelog changelog) throws Exception {
        MapStateDescriptor<String, Long> descriptor =
                new MapStateDescriptor<>("map", String.class, Long.class);
        KeyedStateHandle handle;
        try (TestTask task = start(changelog, Delegate.HASHMAP, ALL, List.of())) {
            MapState<String, Long> map = task.state(KEY, descriptor);
            if (changelog == Changelog.FLINKS) {
                assertThatThrownBy(() -> map.put("key", null))
                        .isInstanceOf(NullPointerException.class);
                return;
            }
            map.put("key", null);
            handle = task.checkpoint(1);
        }

        try (TestTask task = start(changelog, Delegate.HASHMAP, ALL, List.of(handle))) {
            MapState<String, Long> map = task.state(KEY, descriptor);
            assertThat(map.contains("key")).isTrue();
            assertThat(map.get("key")).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource(Changelog.class)
    void chainedOperators_withLocalRecovery_whoMaterializedDifferently(Changelog changelog)
            throws Exception {
        try (Chain chain = new Chain(directory, Delegate.HASHMAP, changelog == Changelog.FLINKS)) {
            chain.materialize(0, "one");
            chain.materialize(1, "one");
            chain.acknowledge(1);
            ((CheckpointListener) chain.operator(0).backend()).notifyCheckpointComplete(1);
            chain.materialize(0, "two");
            if (changelog == Changelog.DSTL) {
                chain.acknowledge(2);
            } else {
                assertThatThrownBy(() -> chain.acknowledge(2))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("one checkpoint contains at most one materializationID");
            }
        }
    }

    @Test
    void restoreModeNoClaim() throws Exception {
        assertThat(BuiltInChangelog.over(new HashMapStateBackend()).supportsNoClaimRestoreMode())
                .isFalse();
        assertThat(
                        new ChangelogStateBackend(new HashMapStateBackend())
                                .supportsNoClaimRestoreMode())
                .isTrue();
    }

    private static void materialize(TestTask task) throws Exception {
        if (BuiltInChangelog.isOwn(task.backend())) {
            BuiltInChangelog.materialize(task.backend());
        } else {
            assertThat(task.materialize()).isTrue();
        }
    }

    private static List<KeyedStateHandle> cut(List<KeyedStateHandle> handles, KeyGroupRange part) {
        return handles.stream()
                .map(handle -> handle.getIntersection(part))
                .filter(Objects::nonNull)
                .collect(Collectors.toList());
    }

    private TestTask start(
            Changelog changelog,
            Delegate delegate,
            KeyGroupRange keyGroups,
            List<KeyedStateHandle> restored)
            throws Exception {
        if (changelog == Changelog.DSTL) {
            return TestTask.startSubtask(
                    directory,
                    delegate,
                    LogStorage.DSTL,
                    new FakeJobManager(),
                    keyGroups,
                    restored);
        }
        return TestTask.start(
                directory,
                BuiltInChangelog.over(TestTask.delegate(directory, delegate)),
                TestTaskStateManager.builder()
                        .setStateChangelogStorage(
                                BuiltInChangelog.files(
                                        directory.resolve("built-in"), new Configuration()))
                        .build(),
                TestTask.checkpoints(directory),
                new FakeJobManager(),
                keyGroups,
                restored);
    }
}
