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

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.runtime.query.TaskKvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.util.function.BiConsumerWithException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The parallelism of a job changes repeatedly, with changelogs that no base covers yet. */
class RescaleTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);
    private static final List<KeyGroupRange> ONE = List.of(ALL);
    private static final List<KeyGroupRange> TWO =
            List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7));
    private static final List<KeyGroupRange> THREE =
            List.of(KeyGroupRange.of(0, 2), KeyGroupRange.of(3, 5), KeyGroupRange.of(6, 7));

    @TempDir private Path directory;
    private Delegate delegate;
    private LogStorage storage;
    private int round;

    /** State at the end of the last run, which the next run must restore. */
    private Map<String, Object> contents = new TreeMap<>();

    static Stream<Arguments> combinations() {
        return Stream.of(
                Arguments.of(Delegate.HASHMAP, LogStorage.MEMORY),
                Arguments.of(Delegate.HASHMAP, LogStorage.DSTL),
                Arguments.of(Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL),
                Arguments.of(Delegate.SPILLABLE_INCREMENTAL, LogStorage.DSTL),
                Arguments.of(Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP, LogStorage.MEMORY));
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void oneTwoOneWithoutAnyMaterialization_appliesEveryRecordOnce(
            Delegate delegate, LogStorage storage) throws Exception {
        use(delegate, storage);
        List<KeyedStateHandle> handles = run(ONE, List.of(), (task, subtask) -> {});
        handles = run(TWO, handles, (task, subtask) -> {});
        handles = run(ONE, handles, (task, subtask) -> {});
        handles = run(THREE, handles, (task, subtask) -> {});
        run(ONE, handles, (task, subtask) -> {});
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void baseOfBefore_doesNotBringBackWhatOthersHaveChangedSince(
            Delegate delegate, LogStorage storage) throws Exception {
        use(delegate, storage);
        List<KeyedStateHandle> handles =
                run(ONE, List.of(), (task, subtask) -> assertThat(task.materialize()).isTrue());
        handles =
                run(
                        TWO,
                        handles,
                        (task, subtask) -> {
                            if (subtask == 0) {
                                assertThat(task.materialize()).isTrue();
                            }
                        });
        handles = run(ONE, handles, (task, subtask) -> {});
        handles =
                run(
                        THREE,
                        handles,
                        (task, subtask) -> {
                            if (subtask == 1) {
                                assertThat(task.materialize()).isTrue();
                            }
                        });
        run(ONE, handles, (task, subtask) -> {});
    }

    /** All operators of a task share its registry, and disposing of a backend empties it. */
    @Test
    void delegateThatIsOnlyRead_removesNoQueryableStateOfTheTask() throws Exception {
        DelegateRecorder recorder = new DelegateRecorder();
        try (TestTask task = restoreOverlappingBases(recorder)) {
            TaskKvStateRegistry ofTask = task.environment.getTaskKvStateRegistry();
            assertThat(recorder.registries).hasSizeGreaterThan(1);
            assertThat(recorder.registries)
                    .filteredOn(registry -> registry == ofTask)
                    .as("the delegate that is kept")
                    .hasSize(1);
        }
    }

    /** Flink empties this directory when a process follows one that was killed. */
    @Test
    void basesThatOverlap_areSeparatedInTheWorkingDirectory() throws Exception {
        DelegateRecorder recorder = new DelegateRecorder();
        try (TestTask task = restoreOverlappingBases(recorder)) {
            String working =
                    task.environment.getTaskManagerInfo().getTmpWorkingDirectory().getPath();
            assertThat(recorder.files)
                    .filteredOn(file -> file.contains("dstl-bases-"))
                    .hasSizeGreaterThan(1)
                    .allMatch(file -> file.contains(working + "/dstl-bases-"));
        }
    }

    private TestTask restoreOverlappingBases(DelegateRecorder recorder) throws Exception {
        use(Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL);
        List<KeyedStateHandle> handles =
                run(ONE, List.of(), (task, subtask) -> assertThat(task.materialize()).isTrue());
        handles =
                run(
                        TWO,
                        handles,
                        (task, subtask) -> {
                            if (subtask == 0) {
                                assertThat(task.materialize()).isTrue();
                            }
                        });
        recorder.setDbStoragePath(directory.resolve("recorder").toString());
        FakeJobManager jobManager = new FakeJobManager();
        for (KeyedStateHandle handle : handles) {
            jobManager.acknowledge(0, handle);
        }
        return TestTask.start(
                directory,
                new ChangelogStateBackend(recorder),
                storage.taskStateManager(directory.resolve("log")),
                TestTask.checkpoints(directory),
                jobManager,
                handles);
    }

    /** Records the registries of queryable states and the files that its backends are given. */
    private static final class DelegateRecorder extends EmbeddedRocksDBStateBackend {

        private static final long serialVersionUID = 1L;

        private final transient List<TaskKvStateRegistry> registries = new ArrayList<>();
        private final transient List<String> files = new ArrayList<>();

        private DelegateRecorder() {
            super(true);
        }

        @Override
        public <K> AbstractKeyedStateBackend<K> createKeyedStateBackend(
                KeyedStateBackendParameters<K> parameters) throws IOException {
            registries.add(parameters.getKvStateRegistry());
            for (KeyedStateHandle restored : parameters.getStateHandles()) {
                if (restored instanceof KeyGroupsStateHandle) {
                    files.add(
                            ((KeyGroupsStateHandle) restored)
                                    .getDelegateStateHandle()
                                    .getStreamStateHandleID()
                                    .getKeyString());
                }
            }
            return super.createKeyedStateBackend(parameters);
        }
    }

    static Stream<Arguments> seeds() {
        return Stream.concat(
                LongStream.range(0, 12)
                        .mapToObj(
                                seed ->
                                        Arguments.of(
                                                Delegate.HASHMAP,
                                                LogStorage.values()[(int) seed % 2],
                                                seed)),
                LongStream.range(1, 2)
                        .mapToObj(
                                seed ->
                                        Arguments.of(
                                                Delegate.ROCKSDB_INCREMENTAL,
                                                LogStorage.DSTL,
                                                seed)));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void anyParallelism_withAnyMaterializations_losesAndDoublesNothing(
            Delegate delegate, LogStorage storage, long seed) throws Exception {
        use(delegate, storage);
        Random random = new Random(seed);
        List<KeyedStateHandle> handles = List.of();
        for (int life = 0; life < 6; life++) {
            handles =
                    run(
                            List.of(ONE, TWO, THREE).get(random.nextInt(3)),
                            handles,
                            (task, subtask) -> {
                                if (random.nextBoolean()) {
                                    task.materialize();
                                }
                            });
        }
    }

    private void use(Delegate newDelegate, LogStorage newStorage) {
        delegate = newDelegate;
        storage = newStorage;
    }

    /**
     * Runs the job once: restores, compares, changes everything, takes a checkpoint. Nothing is
     * ever deleted, since each subtask has a JobManager of its own.
     *
     * @param between done before the checkpoint
     * @return the checkpoint
     */
    private List<KeyedStateHandle> run(
            List<KeyGroupRange> subtasks,
            List<KeyedStateHandle> restored,
            BiConsumerWithException<TestTask, Integer, Exception> between)
            throws Exception {
        round++;
        List<KeyedStateHandle> checkpoint = new ArrayList<>();
        List<Map<String, Object>> found = new ArrayList<>();
        List<Map<String, Object>> left = new ArrayList<>();
        for (KeyGroupRange keyGroups : subtasks) {
            List<KeyedStateHandle> cut =
                    restored.stream()
                            .map(handle -> handle.getIntersection(keyGroups))
                            .filter(handle -> handle != null)
                            .collect(Collectors.toList());
            FakeJobManager jobManager = new FakeJobManager();
            for (KeyedStateHandle handle : cut) {
                jobManager.acknowledge(0, handle);
            }
            try (TestTask task =
                    TestTask.startSubtask(
                            directory, delegate, storage, jobManager, keyGroups, cut)) {
                EveryState states = new EveryState(task);
                if (round > 1) {
                    found.add(states.contents(keyGroups));
                }
                states.change(round, keyGroups);
                between.accept(task, subtasks.indexOf(keyGroups));
                states.change(round + 100, keyGroups);
                task.acknowledge(2L * round);
                checkpoint.add(task.acknowledge(2L * round + 1));
                task.changelog().notifyCheckpointComplete(2L * round + 1);
                left.add(states.contents(keyGroups));
            }
        }
        if (round > 1) {
            assertThat(together(found)).as("restored in round %s", round).isEqualTo(contents);
        }
        contents = together(left);
        return checkpoint;
    }

    private static Map<String, Object> together(List<Map<String, Object>> parts) {
        Map<String, Object> whole = new TreeMap<>();
        TreeSet<Object> timers = new TreeSet<>();
        for (Map<String, Object> part : parts) {
            timers.addAll((Collection<?>) part.get("timers"));
            whole.putAll(part);
        }
        whole.put("timers", timers);
        return whole;
    }
}
