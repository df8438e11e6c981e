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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Jobs move from Flink's built-in changelog to DSTL. */
class BuiltInRestoreTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);
    private static final KeyGroupRange LOWER_HALF = KeyGroupRange.of(0, 3);

    @TempDir private Path directory;

    static Stream<Arguments> delegatesAndLogs() {
        return Stream.of(Delegate.HASHMAP, Delegate.ROCKSDB_INCREMENTAL)
                .flatMap(
                        delegate ->
                                Stream.of(BuiltInLog.values())
                                        .map(log -> Arguments.of(delegate, log)));
    }

    @ParameterizedTest
    @MethodSource("delegatesAndLogs")
    void checkpointOfFlinksOwnChangelog_isRestored_continued_andLeftBehind(
            Delegate delegate, BuiltInLog log) throws Exception {
        FakeJobManager jobManager;
        Map<String, Object> contents;
        try (TestTask task = log.start(directory, delegate, new FakeJobManager(), List.of())) {
            jobManager = task.jobManager;
            EveryState states = new EveryState(task);
            states.change(1, ALL);
            task.checkpoint(1);
            BuiltInChangelog.materialize(task.backend());
            states.change(2, ALL);
            task.checkpoint(2);
            states.change(3, ALL);
            ChangelogStateBackendHandle handle = task.checkpoint(3);
            assertThat(handle.getMaterializedStateHandles()).isNotEmpty();
            assertThat(BuiltInLog.storagesOf(handle)).containsExactly(log.identifier());
            if (log == BuiltInLog.PREEMPTIVE_FILES) {
                assertThat(positionsOf(handle)).isGreaterThan(2 * filesOf(handle));
                assertThat(filesOf(handle)).isGreaterThan(1);
            }
            contents = states.contents(ALL);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            EveryState states = new EveryState(task);
            assertThat(states.contents(ALL)).isEqualTo(contents);
            states.change(4, ALL);
            assertThat(BuiltInLog.storagesOf(task.checkpoint(4)))
                    .containsOnly(log.identifier(), "dstl");
            contents = states.contents(ALL);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(contents);
            assertThat(task.materialize()).isTrue();
            assertThat(BuiltInLog.storagesOf(task.checkpoint(5))).isEmpty();
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(contents);
        }
    }

    @ParameterizedTest
    @MethodSource("delegatesAndLogs")
    void checkpointOfFlinksOwnChangelog_isRestoredByTwoSubtasks_thenByOneAgain(
            Delegate delegate, BuiltInLog log) throws Exception {
        FakeJobManager jobManager;
        Map<String, Object> contents;
        try (TestTask task = log.start(directory, delegate, new FakeJobManager(), List.of())) {
            jobManager = task.jobManager;
            EveryState states = new EveryState(task);
            states.change(1, ALL);
            states.change(2, ALL);
            task.checkpoint(1);
            contents = states.contents(ALL);
        }
        List<KeyedStateHandle> parts = new ArrayList<>();
        Map<String, Object> found = new TreeMap<>();
        TreeSet<Object> timers = new TreeSet<>();
        for (KeyGroupRange part : List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7))) {
            FakeJobManager own = new FakeJobManager();
            try (TestTask task =
                    TestTask.startSubtask(
                            directory,
                            delegate,
                            LogStorage.DSTL,
                            own,
                            part,
                            cut(jobManager, part))) {
                Map<String, Object> ofPart = new EveryState(task).contents(part);
                timers.addAll((Collection<?>) ofPart.remove("timers"));
                found.putAll(ofPart);
                parts.add(task.checkpoint(2));
            }
        }
        found.put("timers", timers);
        assertThat(found).isEqualTo(contents);
        try (TestTask task =
                TestTask.start(directory, delegate, LogStorage.DSTL, new FakeJobManager(), parts)) {
            assertThat(new EveryState(task).contents(ALL)).isEqualTo(contents);
        }
    }

    /**
     * Flink's timer service on asynchronous state polls a timer before it sets the key, so that the
     * built-in changelog has the removal under the key group of any key.
     */
    @ParameterizedTest
    @EnumSource(
            value = BuiltInLog.class,
            names = {"FILES", "PREEMPTIVE_FILES", "MEMORY"})
    void timerPolledWhileAnotherKeyWasCurrent_doesNotReturnInTwoSubtasks(BuiltInLog log)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        SortedSet<Long> left;
        try (TestTask task = log.start(directory, Delegate.HASHMAP, jobManager, List.of())) {
            for (int key = 0; key < EveryState.KEYS; key++) {
                task.backend().setCurrentKey(key);
                task.timers().add(TestTask.timer(key, 1000 + key));
            }
            // The built-in changelog orders what is in one checkpoint by key group.
            task.checkpoint(1);
            for (int key = 0; key < EveryState.KEYS / 2; key++) {
                task.backend().setCurrentKey(keyOfTheOtherHalf(key));
                assertThat(task.timers().poll().getKey()).isEqualTo(key);
            }
            left = task.timerTimes();
            task.checkpoint(2);
        }
        List<KeyedStateHandle> parts = new ArrayList<>();
        SortedSet<Long> found = new TreeSet<>();
        for (KeyGroupRange part : List.of(LOWER_HALF, KeyGroupRange.of(4, 7))) {
            try (TestTask task =
                    TestTask.startSubtask(
                            directory,
                            Delegate.HASHMAP,
                            LogStorage.DSTL,
                            new FakeJobManager(),
                            part,
                            cut(jobManager, part))) {
                found.addAll(task.timerTimes());
                parts.add(task.checkpoint(3));
            }
        }
        assertThat(found).isEqualTo(left);
        try (TestTask task =
                TestTask.start(
                        directory,
                        Delegate.HASHMAP,
                        LogStorage.DSTL,
                        new FakeJobManager(),
                        parts)) {
            assertThat(task.timerTimes()).isEqualTo(left);
        }
    }

    private static int keyOfTheOtherHalf(int key) {
        int other = 0;
        while (EveryState.owns(LOWER_HALF, other) == EveryState.owns(LOWER_HALF, key)) {
            other++;
        }
        return other;
    }

    @ParameterizedTest
    @EnumSource(
            value = BuiltInLog.class,
            names = {"FILES", "MEMORY"})
    void mergedResults_whichOnlyTheJobsFunctionKnows_areRefusedWithTheWayOut(BuiltInLog log)
            throws Exception {
        FakeJobManager jobManager;
        try (TestTask task =
                log.start(directory, Delegate.HASHMAP, new FakeJobManager(), List.of())) {
            jobManager = task.jobManager;
            InternalMergingState<Integer, String, Long, Long, Long> sums = sums(task);
            for (String session : List.of("s1", "s2")) {
                sums.setCurrentNamespace(session);
                sums.add(1L);
            }
            sums.mergeNamespaces("s1", List.of("s2"));
            task.checkpoint(1);
        }
        assertThatThrownBy(
                        () ->
                                TestTask.start(
                                        directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager))
                .hasMessageContaining("a state change MERGE_NS of state 'sums' (REDUCING)")
                .hasMessageContaining("Flink's built-in changelog cannot restore it either")
                .hasMessageContaining("Take a canonical savepoint");
        assertThatThrownBy(
                        () ->
                                log.start(
                                        directory,
                                        Delegate.HASHMAP,
                                        new FakeJobManager(),
                                        jobManager.latest()))
                .as("Flink's own changelog, on the same checkpoint")
                .isInstanceOf(NullPointerException.class);
    }

    @Test
    void windowsThatMoveWithoutBeingMerged_areRestored() throws Exception {
        FakeJobManager jobManager;
        try (TestTask task =
                BuiltInLog.FILES.start(
                        directory, Delegate.HASHMAP, new FakeJobManager(), List.of())) {
            jobManager = task.jobManager;
            InternalMergingState<Integer, String, Long, Long, Long> sums = sums(task);
            sums.setCurrentNamespace("s2");
            sums.add(5L);
            sums.mergeNamespaces("s1", List.of("s2", "s3"));
            task.checkpoint(1);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            InternalMergingState<Integer, String, Long, Long, Long> sums = sums(task);
            sums.setCurrentNamespace("s1");
            assertThat(sums.get()).isEqualTo(5L);
            sums.setCurrentNamespace("s2");
            assertThat(sums.get()).isNull();
        }
    }

    @SuppressWarnings("unchecked")
    private static InternalMergingState<Integer, String, Long, Long, Long> sums(TestTask task)
            throws Exception {
        task.backend().setCurrentKey(1);
        return (InternalMergingState<Integer, String, Long, Long, Long>)
                (Object)
                        task.backend()
                                .getOrCreateKeyedState(
                                        StringSerializer.INSTANCE,
                                        new ReducingStateDescriptor<>(
                                                "sums", Long::sum, LongSerializer.INSTANCE));
    }

    private static List<KeyedStateHandle> cut(FakeJobManager jobManager, KeyGroupRange part) {
        return jobManager.latest().stream()
                .map(handle -> handle.getIntersection(part))
                .collect(Collectors.toList());
    }

    private static long positionsOf(ChangelogStateBackendHandle handle) {
        return positions(handle).count();
    }

    private static long filesOf(ChangelogStateBackendHandle handle) {
        return positions(handle).distinct().count();
    }

    private static Stream<Object> positions(ChangelogStateBackendHandle handle) {
        return handle.getNonMaterializedStateHandles().stream()
                .flatMap(
                        log ->
                                ((ChangelogStateHandleStreamImpl) log)
                                        .getHandlesAndOffsets().stream())
                .map(position -> position.f0);
    }
}
