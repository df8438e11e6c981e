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
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.CheckpointBoundKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.apache.flink.state.changelog.DeactivatedChangelogStateBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RestoreTest {

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void changelogCheckpoint_restoresIntoAPlainDelegate_thatGoesOnWithoutALog(Delegate delegate)
            throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.value(1).update("one");
            task.timers().add(TestTask.timer(1, 10));
            task.materialize();
            task.value(2).update("two");
            task.map(2).put("a", null);
            task.list(2).add("x");
            task.timers().add(TestTask.timer(2, 20));
            task.checkpoint(900);
        }
        KeyedStateHandle plain;
        try (TestTask task = deactivated(delegate, jobManager)) {
            assertThat(task.backend()).isNotInstanceOf(ChangelogKeyedStateBackend.class);
            assertThat(task.values(3)).containsExactly(null, "one", "two");
            assertThat(task.map(2).contains("a")).isTrue();
            assertThat(task.list(2).get()).containsExactly("x");
            assertThat(task.timerTimes()).containsExactly(10L, 20L);

            task.value(3).update("three");
            plain = task.jobManager.acknowledge(901, TestTask.finish(task.trigger(901)));
            task.jobManager.complete(901);
            assertThat(plain).isNotInstanceOf(ChangelogStateBackendHandle.class);
        }
        if (delegate != Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP) {
            try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
                assertThat(task.values(4)).containsExactly(null, "one", "two", "three");
                task.value(4).update("four");
                task.materialize();
                task.checkpoint(902);
            }
            try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
                assertThat(task.values(5)).containsExactly(null, "one", "two", "three", "four");
            }
        }
    }

    @Test
    void deactivatedBackend_knowsItsRestoredSnapshotByTheIdOfTheCheckpoint() throws Exception {
        FakeJobManager jobManager;
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            for (int round = 1; round <= 9; round++) {
                task.value(round).update("v");
                task.materialize();
            }
            task.checkpoint(1);
        }
        try (TestTask task = deactivated(Delegate.ROCKSDB_INCREMENTAL, jobManager)) {
            task.value(10).update("v");
            KeyedStateHandle second =
                    task.jobManager.acknowledge(2, TestTask.finish(task.trigger(2)));
            task.jobManager.complete(2);
            ((org.apache.flink.api.common.state.CheckpointListener) task.backend())
                    .notifyCheckpointComplete(2);
            assertThat(((CheckpointBoundKeyedStateHandle) second).getCheckpointId()).isEqualTo(2);
            task.value(11).update("v");
            task.jobManager.acknowledge(3, TestTask.finish(task.trigger(3)));
            task.jobManager.complete(3);
            ((org.apache.flink.api.common.state.CheckpointListener) task.backend())
                    .notifyCheckpointComplete(3);
        }
        try (TestTask task =
                TestTask.start(
                        directory, Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL, jobManager)) {
            assertThat(task.value(11).value()).isEqualTo("v");
        }
    }

    private TestTask deactivated(Delegate delegate, FakeJobManager jobManager) throws Exception {
        return TestTask.start(
                directory,
                new DeactivatedChangelogStateBackend(TestTask.delegate(directory, delegate)),
                LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                TestTask.checkpoints(directory),
                jobManager,
                jobManager.latest());
    }

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void serializerThatChangesWhileTheChangelogIsSwitchedOff_migratesAReducingState(
            Delegate delegate) throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.state(1, concatenation(1)).add("base");
            task.materialize();
            task.state(1, concatenation(1)).add("log");
            task.state(2, concatenation(1)).add("log only");
            task.checkpoint(1);
        }

        try (TestTask task = deactivated(delegate, jobManager)) {
            assertThat(task.state(1, concatenation(2)).get()).isEqualTo("baselog");
            task.state(1, concatenation(2)).add("new");
            task.state(3, concatenation(2)).add("new only");
            assertThat(task.state(1, concatenation(2)).get()).isEqualTo("baselognew");
            assertThat(task.state(2, concatenation(2)).get()).isEqualTo("log only");
            assertThat(task.state(3, concatenation(2)).get()).isEqualTo("new only");
        }
    }

    private static ReducingStateDescriptor<String> concatenation(int version) {
        return new ReducingStateDescriptor<>(
                "concatenation", String::concat, new VersionedStringSerializer(version));
    }

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void rescaledState_isRestoredFromEveryPart(Delegate delegate) throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            for (int key = 0; key < 40; key++) {
                task.value(key).update("base " + key);
            }
            task.materialize();
            for (int key = 0; key < 40; key += 2) {
                task.value(key).update("log " + key);
            }
            task.checkpoint(1);
        }
        KeyedStateHandle whole = jobManager.latest().get(0);
        List<KeyedStateHandle> parts =
                List.of(
                        whole.getIntersection(KeyGroupRange.of(0, 3)),
                        whole.getIntersection(KeyGroupRange.of(4, 7)));
        FakeJobManager rescaled = new FakeJobManager();
        try (TestTask task =
                TestTask.start(directory, delegate, LogStorage.DSTL, rescaled, parts)) {
            for (int key = 0; key < 40; key++) {
                assertThat(task.value(key).value())
                        .isEqualTo((key % 2 == 0 ? "log " : "base ") + key);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void mergedSessionWindows_ofReduceAndAggregate_replay(Delegate delegate) throws Exception {
        FakeJobManager jobManager;
        ReducingStateDescriptor<Long> sum =
                new ReducingStateDescriptor<>("sum", Long::sum, LongSerializer.INSTANCE);
        AggregatingStateDescriptor<String, String, String> joined =
                new AggregatingStateDescriptor<>("joined", new Joined(), StringSerializer.INSTANCE);
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            InternalMergingState<Integer, String, Long, Long, Long> sums = window(task, sum);
            InternalMergingState<Integer, String, String, String, String> joins =
                    window(task, joined);
            for (String session : List.of("s1", "s2", "s3")) {
                sums.setCurrentNamespace(session);
                sums.add((long) session.charAt(1) - '0');
                joins.setCurrentNamespace(session);
                joins.add(session);
            }
            sums.mergeNamespaces("s1", List.of("s2", "s3"));
            joins.mergeNamespaces("s1", List.of("s2", "s3"));
            task.checkpoint(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            InternalMergingState<Integer, String, Long, Long, Long> sums = window(task, sum);
            InternalMergingState<Integer, String, String, String, String> joins =
                    window(task, joined);
            sums.setCurrentNamespace("s1");
            joins.setCurrentNamespace("s1");
            assertThat(sums.get()).isEqualTo(6);
            assertThat(joins.get()).contains("s1", "s2", "s3");
            sums.setCurrentNamespace("s2");
            assertThat(sums.get()).isNull();
            sums.add(5L);
            assertThat(sums.get()).isEqualTo(5);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> InternalMergingState<Integer, String, T, T, T> window(
            TestTask task, StateDescriptor<?, T> descriptor) throws Exception {
        task.backend().setCurrentKey(1);
        return (InternalMergingState<Integer, String, T, T, T>)
                (Object)
                        task.backend().getOrCreateKeyedState(StringSerializer.INSTANCE, descriptor);
    }

    @Test
    void timersOnTheHeap_surviveAMaterialization_firedOnesStayFired() throws Exception {
        FakeJobManager jobManager;
        try (TestTask task =
                TestTask.start(directory, Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            for (int key = 0; key < 10; key++) {
                task.timers().add(TestTask.timer(key, 100 + key));
            }
            task.checkpoint(1);
            task.timers().poll();
            assertThat(task.materialize()).isTrue();
            task.timers().poll();
            task.timers().add(TestTask.timer(3, 500));
            task.checkpoint(2);
            task.checkpoint(3);
        }
        try (TestTask task =
                TestTask.start(
                        directory,
                        Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP,
                        LogStorage.DSTL,
                        jobManager)) {
            assertThat(task.timerTimes())
                    .containsExactly(102L, 103L, 104L, 105L, 106L, 107L, 108L, 109L, 500L);
        }
    }

    @Test
    void mapEntriesWithoutAValue_areRestored() throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.MEMORY)) {
            jobManager = task.jobManager;
            task.map(1).put("present", null);
            task.checkpoint(1);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.MEMORY, jobManager)) {
            assertThat(task.map(1).contains("present")).isTrue();
            assertThat(task.map(1).get("present")).isNull();
        }
    }

    @Test
    void logOfAnotherStorage_isReadByThatStorage_andGoesOnInOurs() throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.MEMORY)) {
            jobManager = task.jobManager;
            task.value(1).update("in memory");
            task.checkpoint(1);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            task.value(2).update("in a file");
            task.checkpoint(2);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            assertThat(task.values(3)).containsExactly(null, "in memory", "in a file");
        }
    }

    /** As with Flink's State Processor API, which reads state without a TaskManager. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void log_isReadWithoutATaskManager(boolean nullInsteadOfRefusal) throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.value(1).update("one");
            task.checkpoint(1);
        }
        TaskStateManager real = LogStorage.DSTL.taskStateManager(directory.resolve("log"));
        TaskStateManager withoutViews =
                (TaskStateManager)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {TaskStateManager.class},
                                (proxy, method, arguments) -> {
                                    if (!method.getName().equals("getStateChangelogStorageView")) {
                                        return method.invoke(real, arguments);
                                    }
                                    if (nullInsteadOfRefusal) {
                                        return null;
                                    }
                                    throw new UnsupportedOperationException("No TaskManager");
                                });

        try (TestTask task =
                TestTask.start(
                        directory,
                        new DeactivatedChangelogStateBackend(
                                TestTask.delegate(directory, Delegate.HASHMAP)),
                        withoutViews,
                        TestTask.checkpoints(directory),
                        jobManager,
                        jobManager.latest())) {
            assertThat(task.value(1).value()).isEqualTo("one");
        }
    }

    @Test
    void logOfAnUnknownStorage_isOneSentenceWithTheKeyAndWhatToDo() {
        ChangelogStateHandle foreign =
                new ChangelogStateHandleStreamImpl(
                        List.of(), KeyGroupRange.of(0, 7), 0, 0, "elsewhere");
        KeyedStateHandle handle =
                new ChangelogStateBackendHandleImpl(
                        List.of(), List.of(foreign), KeyGroupRange.of(0, 7), 1, 1, 0);

        assertThatThrownBy(
                        () ->
                                TestTask.start(
                                        directory,
                                        Delegate.HASHMAP,
                                        LogStorage.DSTL,
                                        new FakeJobManager(),
                                        List.of(handle)))
                .hasMessage(
                        "The checkpoint contains a changelog that was written with"
                                + " 'state.changelog.storage: elsewhere', which no storage in lib/"
                                + " of this TaskManager can read; put the jar of that storage into"
                                + " lib/ of every Flink process and restart.");
    }

    private static final class Joined implements AggregateFunction<String, String, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public String createAccumulator() {
            return "";
        }

        @Override
        public String add(String value, String accumulator) {
            return accumulator + value;
        }

        @Override
        public String getResult(String accumulator) {
            return accumulator;
        }

        @Override
        public String merge(String a, String b) {
            return a + b;
        }
    }
}
