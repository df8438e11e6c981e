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

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.BuiltInChangelog;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.clusterframework.types.AllocationID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.ChangelogTaskLocalStateStore;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.state.changelog.ChangelogStateBackend;

/** Two chained keyed operators, and Flink's own store for the local state of their task. */
final class Chain implements AutoCloseable {

    static final int OPERATORS = 2;

    private final Path directory;
    private final Delegate delegate;
    private final boolean ofFlink;
    private final LocalRecoveryConfig local;
    private final JobID job = new JobID();
    private final JobVertexID vertex = new JobVertexID();
    private final AllocationID slot = new AllocationID();
    private ChangelogTaskLocalStateStore store;
    private final List<OperatorID> ids = new ArrayList<>();
    private final List<FakeJobManager> jobManagers = new ArrayList<>();
    private final List<TestTask> tasks = new ArrayList<>();

    /** Starts without state. */
    Chain(Path directory, Delegate delegate, boolean ofFlink) throws Exception {
        this.directory = directory;
        this.delegate = delegate;
        this.ofFlink = ofFlink;
        this.local =
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(
                                new File[] {directory.resolve("local").toFile()}, job, vertex, 0));
        this.store = store();
        for (int operator = 0; operator < OPERATORS; operator++) {
            ids.add(new OperatorID());
            jobManagers.add(new FakeJobManager());
        }
        start(0);
    }

    private ChangelogTaskLocalStateStore store() {
        return new ChangelogTaskLocalStateStore(job, slot, vertex, 0, local, Runnable::run);
    }

    private void start(long restored) throws Exception {
        TaskStateSnapshot stored = restored == 0 ? null : store.retrieveLocalState(restored);
        for (int operator = 0; operator < OPERATORS; operator++) {
            List<KeyedStateHandle> handles =
                    stored == null
                            ? List.of()
                            : List.copyOf(
                                    stored.getSubtaskStateByOperatorID(ids.get(operator))
                                            .getManagedKeyedState());
            Path log = directory.resolve("log-" + operator);
            tasks.add(
                    ofFlink
                            ? TestTask.start(
                                    directory,
                                    BuiltInChangelog.over(TestTask.delegate(directory, delegate)),
                                    TestTaskStateManager.builder()
                                            .setStateChangelogStorage(
                                                    BuiltInChangelog.files(
                                                            log, new Configuration()))
                                            .setLocalRecoveryConfig(local)
                                            .build(),
                                    TestTask.checkpoints(directory),
                                    jobManagers.get(operator),
                                    handles)
                            : TestTask.start(
                                    directory,
                                    new ChangelogStateBackend(
                                            TestTask.delegate(directory, delegate)),
                                    LogStorage.DSTL.taskStateManager(log, local),
                                    TestTask.checkpoints(directory),
                                    jobManagers.get(operator),
                                    handles));
        }
    }

    TestTask operator(int operator) {
        return tasks.get(operator);
    }

    /** Updates the state of an operator and materializes it. */
    void materialize(int operator, String value) throws Exception {
        TestTask task = tasks.get(operator);
        task.value(1).update(value);
        if (ofFlink) {
            BuiltInChangelog.materialize(task.backend());
        } else if (!task.materialize()) {
            throw new AssertionError("Nothing was materialized");
        }
    }

    /** Takes a checkpoint and acknowledges it; its local part is in Flink's store. */
    void acknowledge(long checkpointId) throws Exception {
        TaskStateSnapshot localParts = new TaskStateSnapshot(OPERATORS, false);
        for (int operator = 0; operator < OPERATORS; operator++) {
            SnapshotResult<KeyedStateHandle> result = tasks.get(operator).snapshot(checkpointId);
            if (result.getTaskLocalSnapshot() == null) {
                throw new AssertionError("Operator " + operator + " has no local part");
            }
            localParts.putSubtaskStateByOperatorID(
                    ids.get(operator),
                    OperatorSubtaskState.builder()
                            .setManagedKeyedState(result.getTaskLocalSnapshot())
                            .build());
            jobManagers
                    .get(operator)
                    .acknowledge(checkpointId, result.getJobManagerOwnedSnapshot());
        }
        store.storeLocalState(checkpointId, localParts);
    }

    /** Takes a checkpoint that completes. */
    void checkpoint(long checkpointId) throws Exception {
        acknowledge(checkpointId);
        for (TestTask task : tasks) {
            task.complete(checkpointId);
        }
        store.confirmCheckpoint(checkpointId);
    }

    /** Aborts a checkpoint. */
    void abort(long checkpointId) throws Exception {
        for (TestTask task : tasks) {
            task.changelog().notifyCheckpointAborted(checkpointId);
        }
        store.abortCheckpoint(checkpointId);
    }

    /** Fails the task and restarts it in the same slot, with the local part of a checkpoint. */
    void restart(long checkpointId) throws Exception {
        stop();
        store.pruneMatchingCheckpoints(id -> id != checkpointId);
        start(checkpointId);
    }

    /** Restarts the process of the task, with the local part of a checkpoint. */
    void restartProcess(long checkpointId) throws Exception {
        stop();
        store = store();
        start(checkpointId);
    }

    /** Directories of local copies of bases. */
    List<Path> localDirectories() throws IOException {
        try (Stream<Path> paths = Files.walk(directory.resolve("local"))) {
            return paths.filter(path -> path.getFileName().toString().startsWith("chk_"))
                    .collect(Collectors.toList());
        } catch (UncheckedIOException deletedMeanwhile) {
            return localDirectories();
        }
    }

    private void stop() throws IOException {
        for (TestTask task : tasks) {
            task.close();
        }
        tasks.clear();
    }

    @Override
    public void close() throws IOException {
        stop();
    }
}
