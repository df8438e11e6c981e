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
import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.log.DstlStorage;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Input that cannot be restored is reported, and left unchanged. */
class BadInputTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);
    private static final KeyGroupRange LOWER_HALF = KeyGroupRange.of(0, 3);
    private static final KeyGroupRange UPPER_HALF = KeyGroupRange.of(4, 7);

    @TempDir private Path directory;

    @Test
    void missingSegment_failsTheRestore_untilTheFileIsBack() throws Exception {
        FakeJobManager jobManager = oneRecord(directory);
        Path segment = onlySegment(directory);
        byte[] bytes = Files.readAllBytes(segment);
        Files.delete(segment);

        assertThatThrownBy(() -> restore(jobManager))
                .hasMessageContaining(segment.getFileName().toString())
                .hasMessageContaining("is gone")
                .hasMessageContaining("Bring the file back, or restore from another checkpoint");
        // The writer that ends meanwhile deletes its directory if nothing is left in it.
        Files.createDirectories(segment.getParent());
        Files.write(segment, bytes);
        assertRestores(jobManager);
    }

    /** The alert that no checkpoint completes sees only jobs that are known to have a changelog. */
    @Test
    void jobWhoseTasksCannotRestore_isSeenInTheMetrics() throws Exception {
        FakeJobManager jobManager = oneRecord(directory);
        Files.delete(onlySegment(directory));
        RecordedMetrics ofJob = new RecordedMetrics();
        try (DstlStorage storage = new DstlStorage(new JobID(), new Configuration(), ofJob)) {
            assertThatThrownBy(
                            () ->
                                    TestTask.start(
                                            directory,
                                            new ChangelogStateBackend(
                                                    TestTask.delegate(directory, Delegate.HASHMAP)),
                                            TestTaskStateManager.builder()
                                                    .setStateChangelogStorage(storage)
                                                    .build(),
                                            TestTask.checkpoints(directory),
                                            jobManager,
                                            jobManager.latest()))
                    .hasMessageContaining("is gone");

            assertThat(ofJob.hasGauge("ChangelogStorage.version")).isTrue();
        }
    }

    @Test
    void truncatedSegment_failsTheRestore_namingFileOffsetExpectedAndFound() throws Exception {
        FakeJobManager jobManager = oneRecord(directory);
        Path segment = onlySegment(directory);
        byte[] bytes = Files.readAllBytes(segment);
        Files.write(segment, Arrays.copyOf(bytes, bytes.length / 2));

        assertThatThrownBy(() -> restore(jobManager))
                .hasMessageContaining(segment.getFileName() + ", byte ")
                .hasMessageContaining("expected ")
                .hasMessageContaining("found the end of the file")
                .hasMessageContaining("Restore from another checkpoint or savepoint");
        Files.write(segment, bytes);
        assertRestores(jobManager);
    }

    @Test
    void fileThatIsNoSegment_failsTheRestore_sayingSo() throws Exception {
        FakeJobManager jobManager = oneRecord(directory);
        Path segment = onlySegment(directory);
        byte[] bytes = Files.readAllBytes(segment);
        Files.writeString(segment, "something else, and quite long at that ".repeat(20));

        assertThatThrownBy(() -> restore(jobManager))
                .hasMessageContaining("The file is not a segment")
                .hasMessageContaining("Restore from another checkpoint or savepoint");
        Files.write(segment, bytes);
        assertRestores(jobManager);
    }

    @Test
    void segmentOfAnotherSubtask_failsTheRestore_untilTheFileIsBack() throws Exception {
        Path other = directory.resolve("other");
        FakeJobManager jobManager = oneRecord(directory, LOWER_HALF, 2);
        oneRecord(other, UPPER_HALF, 2);
        Path segment = segments(directory).get(0);
        byte[] bytes = Files.readAllBytes(segment);
        Files.copy(segments(other).get(0), segment, StandardCopyOption.REPLACE_EXISTING);

        assertThatThrownBy(() -> restore(jobManager, LOWER_HALF))
                .hasMessageContaining(segment.getFileName() + ", byte ")
                .hasMessageContaining("expected a frame of a changelog with key groups of 0 to 3")
                .hasMessageContaining("key groups 4 to 7")
                .hasMessageContaining("Restore from another checkpoint or savepoint");
        Files.write(segment, bytes);
        restore(jobManager, LOWER_HALF).close();
    }

    @Test
    void segmentOfAnotherCheckpoint_failsTheRestore_untilTheFileIsBack() throws Exception {
        FakeJobManager jobManager = oneRecord(directory, ALL, 3);
        List<Path> segments = segments(directory);
        assertThat(segments).hasSize(3);
        byte[] bytes = Files.readAllBytes(segments.get(0));
        Files.copy(segments.get(1), segments.get(0), StandardCopyOption.REPLACE_EXISTING);

        assertThatThrownBy(() -> restore(jobManager, ALL))
                .hasMessageContaining(segments.get(1).getFileName() + ", byte ")
                .hasMessageContaining("expected a frame of changelog ")
                .hasMessageContaining(" after sequence number ")
                .hasMessageContaining("found one of changelog ")
                .hasMessageContaining("Restore from another checkpoint or savepoint");
        Files.write(segments.get(0), bytes);
        restore(jobManager, ALL).close();
    }

    /** Runs a subtask that takes checkpoints, each with one more segment. */
    private static FakeJobManager oneRecord(Path directory, KeyGroupRange keyGroups, int count)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task = subtask(directory, jobManager, keyGroups)) {
            int key = 0;
            while (!EveryState.owns(keyGroups, key)) {
                key++;
            }
            for (int checkpoint = 1; checkpoint <= count; checkpoint++) {
                task.value(key).update("value " + checkpoint);
                task.checkpoint(checkpoint);
            }
        }
        return jobManager;
    }

    private TestTask restore(FakeJobManager jobManager, KeyGroupRange keyGroups) throws Exception {
        return subtask(directory, jobManager, keyGroups);
    }

    private static TestTask subtask(
            Path directory, FakeJobManager jobManager, KeyGroupRange keyGroups) throws Exception {
        return TestTask.startSubtask(
                directory,
                Delegate.HASHMAP,
                LogStorage.DSTL,
                jobManager,
                keyGroups,
                jobManager.latest());
    }

    @Test
    void stateOfAnotherType_failsTheJob_andTheCheckpointStaysRestorable() throws Exception {
        FakeJobManager jobManager = oneRecord(directory);

        try (TestTask task = restore(jobManager)) {
            assertThatThrownBy(
                            () ->
                                    task.state(
                                            1,
                                            new ValueStateDescriptor<>(
                                                    TestTask.VALUE.getName(), Long.class)))
                    .isInstanceOf(StateMigrationException.class)
                    .hasMessageContaining("incompatible");
        }
        assertRestores(jobManager);
    }

    @Test
    void delegateThatCannotBeWrapped_isNamed_withWhatToDo() {
        assertThatThrownBy(
                        () ->
                                TestTask.start(
                                        directory,
                                        new ChangelogStateBackend(new Unwrappable()),
                                        LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                                        TestTask.checkpoints(directory),
                                        new FakeJobManager(),
                                        List.of()))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Unwrappable cannot be the delegate of a changelog")
                .hasMessageContaining("use another 'state.backend.type' or set")
                .hasMessageContaining("'state.changelog.enabled: false'");
    }

    private TestTask restore(FakeJobManager jobManager) throws Exception {
        return TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager);
    }

    private void assertRestores(FakeJobManager jobManager) throws Exception {
        try (TestTask task = restore(jobManager)) {
            assertThat(task.value(1).value()).as("nothing was lost").isEqualTo("one");
        }
    }

    private static FakeJobManager oneRecord(Path directory) throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("one");
            ChangelogStateBackendHandle handle = task.checkpoint(1);
            assertThat(handle.getNonMaterializedStateHandles()).hasSize(1);
            return task.jobManager;
        }
    }

    private static Path onlySegment(Path directory) throws IOException {
        List<Path> segments = segments(directory);
        assertThat(segments).hasSize(1);
        return segments.get(0);
    }

    /** Returns the segments in the order in which they were written. */
    private static List<Path> segments(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("log"))) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> !file.getFileName().toString().contains("probe"))
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    /** A state backend whose keyed backend is not Flink's. */
    private static final class Unwrappable implements StateBackend {

        private static final long serialVersionUID = 1L;

        @Override
        @SuppressWarnings("unchecked")
        public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
                KeyedStateBackendParameters<K> parameters) {
            return (CheckpointableKeyedStateBackend<K>)
                    Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {CheckpointableKeyedStateBackend.class},
                            (proxy, method, arguments) -> null);
        }

        @Override
        public OperatorStateBackend createOperatorStateBackend(
                OperatorStateBackendParameters parameters) {
            throw new UnsupportedOperationException();
        }
    }
}
