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

package dev.dstl.spillable.incremental;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.clusterframework.types.AllocationID;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.TaskLocalStateStoreImpl;
import org.apache.flink.runtime.state.TestTaskStateManager;

/** The local disks of a TaskManager, and Flink's own store of what one subtask has on them. */
final class LocalStore {

    private static final OperatorID OPERATOR = new OperatorID();

    private final Path[] disks;
    private final JobID job = new JobID();
    private final JobVertexID vertex = new JobVertexID();
    private final LocalRecoveryConfig config;
    private TaskLocalStateStoreImpl store;

    LocalStore(Path... disks) {
        this.disks = disks;
        this.config =
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(
                                Arrays.stream(disks).map(Path::toFile).toArray(File[]::new),
                                job,
                                vertex,
                                0));
        restartProcess();
    }

    /** As with a working directory that outlives the process: what is on the disks remains. */
    void restartProcess() {
        store =
                new TaskLocalStateStoreImpl(
                        job, new AllocationID(), vertex, 0, config, Runnable::run);
    }

    /** Of a task that has this store. */
    Environment environment() {
        return MockEnvironment.builder()
                .setTaskStateManager(new TestTaskStateManager(config))
                .build();
    }

    /** Takes the local copy of a checkpoint that is acknowledged. */
    void store(long id, SnapshotResult<KeyedStateHandle> checkpoint) {
        KeyedStateHandle local = checkpoint.getTaskLocalSnapshot();
        TaskStateSnapshot snapshot = null;
        if (local != null) {
            snapshot = new TaskStateSnapshot();
            snapshot.putSubtaskStateByOperatorID(
                    OPERATOR, OperatorSubtaskState.builder().setManagedKeyedState(local).build());
        }
        store.storeLocalState(id, snapshot);
    }

    void confirm(long id) {
        store.confirmCheckpoint(id);
    }

    void abort(long id) {
        store.abortCheckpoint(id);
    }

    /** A task starts from this checkpoint. */
    void restoreFrom(long id) {
        store.pruneMatchingCheckpoints(other -> other != id);
    }

    /** The local copy of a checkpoint, null if there is none. */
    @Nullable
    KeyedStateHandle retrieve(long id) {
        TaskStateSnapshot snapshot = store.retrieveLocalState(id);
        OperatorSubtaskState state =
                snapshot == null ? null : snapshot.getSubtaskStateByOperatorID(OPERATOR);
        return state == null ? null : state.getManagedKeyedState().iterator().next();
    }

    /** The subtask does not come back here. */
    void dispose() {
        store.dispose().join();
    }

    /** Where the copies of the subtask are. */
    Path subtaskDirectory() {
        return config.getLocalStateDirectoryProvider()
                .orElseThrow()
                .selectSubtaskBaseDirectory(0)
                .toPath();
    }

    static Path directory(KeyedStateHandle local) {
        return ((IncrementalLocalKeyedStateHandle) local).getDirectoryStateHandle().getDirectory();
    }

    /** Files of copies on all disks, without those that Flink itself writes. */
    Set<Path> files() {
        Set<Path> all = new TreeSet<>();
        for (Path disk : disks) {
            try (Stream<Path> files = Files.walk(disk)) {
                all.addAll(
                        files.filter(Files::isRegularFile)
                                .filter(file -> !file.endsWith("_task_state_snapshot"))
                                .collect(Collectors.toSet()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return all;
    }
}
