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

package dev.dstl.changelog.differential.world;

import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.schema.JobClasses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.apache.flink.util.IOUtils;

/**
 * The job on a plain backend of Flink, which determines the expected results. Its checkpoints
 * complete at once, and in memory. It registers all states at once, since Flink misreads a
 * checkpoint in which only some subtasks have moved a state to a new version. To be closed.
 */
public final class PlainJob implements AutoCloseable {

    private static final CheckpointStreamFactory STREAMS = new MemCheckpointStreamFactory(1 << 26);

    private final JobShape shape;
    private final Path directory;
    private final TtlTimeProvider clock;
    private final TreeMap<Long, List<List<KeyedStateHandle>>> checkpoints = new TreeMap<>();
    private final List<List<KeyedOperator>> subtasks = new ArrayList<>();
    private MockEnvironment environment;
    private Deployment deployment;

    public PlainJob(JobShape shape, Path directory, TtlTimeProvider clock) {
        this.shape = shape;
        this.directory = directory;
        this.clock = clock;
    }

    /**
     * Starts anew or from a checkpoint, which forgets all later ones.
     *
     * @throws Exception if Flink refuses to restore
     */
    public void start(Deployment newDeployment, @Nullable Long checkpoint) throws Exception {
        open(newDeployment, checkpoint);
        for (List<KeyedOperator> operators : subtasks) {
            for (KeyedOperator operator : operators) {
                operator.registerAll();
            }
        }
    }

    /** Starts without state; states are registered on first access. */
    public void startWithoutStates(Deployment newDeployment) throws Exception {
        open(newDeployment, null);
    }

    private void open(Deployment newDeployment, @Nullable Long checkpoint) throws Exception {
        stop();
        deployment = newDeployment;
        Thread.currentThread()
                .setContextClassLoader(JobClasses.of(deployment.generation()).loader());
        environment =
                MockEnvironment.builder()
                        .setUserCodeClassLoader(JobClasses.of(deployment.generation()).loader())
                        .build();
        StateBackend backend =
                deployment.storage().plain(directory.resolve("plain-" + UUID.randomUUID()));
        for (KeyGroupRange keyGroups : deployment.keyGroups()) {
            List<KeyedOperator> operators = new ArrayList<>();
            subtasks.add(operators);
            for (int operator = 0; operator < shape.operators(); operator++) {
                List<KeyedStateHandle> restored =
                        checkpoint == null ? List.of() : cut(checkpoint, operator, keyGroups);
                operators.add(open(backend, keyGroups, restored));
            }
        }
    }

    private List<KeyedStateHandle> cut(long checkpoint, int operator, KeyGroupRange keyGroups) {
        return checkpoints.get(checkpoint).get(operator).stream()
                .map(handle -> handle.getIntersection(keyGroups))
                .filter(Objects::nonNull)
                .collect(Collectors.toList());
    }

    private KeyedOperator open(
            StateBackend backend, KeyGroupRange keyGroups, List<KeyedStateHandle> restored)
            throws Exception {
        return new KeyedOperator(
                backend.createKeyedStateBackend(
                        new KeyedStateBackendParametersImpl<>(
                                environment,
                                new JobID(),
                                "operator",
                                shape.keys().serializer(deployment.generation()),
                                JobShape.KEY_GROUPS,
                                keyGroups,
                                environment.getTaskKvStateRegistry(),
                                clock,
                                new UnregisteredMetricsGroup(),
                                restored,
                                new CloseableRegistry())),
                shape,
                deployment.generation());
    }

    /** Returns the operator of a chain that owns a key group. */
    public KeyedOperator owner(int operator, int keyGroup) {
        return subtasks.stream()
                .map(operators -> operators.get(operator))
                .filter(owner -> owner.backend().getKeyGroupRange().contains(keyGroup))
                .findFirst()
                .orElseThrow();
    }

    /** All operators of all subtasks. */
    public List<List<KeyedOperator>> subtasks() {
        return subtasks;
    }

    /**
     * Takes a checkpoint.
     *
     * @param canonical whether another backend is to read it
     */
    public void checkpoint(long id, boolean canonical) throws Exception {
        List<List<KeyedStateHandle>> handles = new ArrayList<>();
        for (int operator = 0; operator < shape.operators(); operator++) {
            List<KeyedStateHandle> of = new ArrayList<>();
            handles.add(of);
            for (List<KeyedOperator> operators : subtasks) {
                operators.get(operator).meetClasses();
                KeyedStateHandle handle =
                        snapshot(
                                id,
                                operators.get(operator),
                                canonical || deployment.storage().checkpointsLackTimers());
                if (handle != null) {
                    of.add(handle);
                }
            }
        }
        checkpoints.put(id, handles);
    }

    @Nullable
    private static KeyedStateHandle snapshot(long id, KeyedOperator operator, boolean canonical)
            throws Exception {
        CheckpointOptions options = CheckpointOptions.forCheckpointWithDefaultLocation();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                canonical
                        ? StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                        operator.backend(), new CloseableRegistry())
                                .snapshot(id, 0, STREAMS, options)
                        : operator.backend().snapshot(id, 0, STREAMS, options);
        future.run();
        return future.get().getJobManagerOwnedSnapshot();
    }

    /** Copies all state into an empty job of the same deployment; only after a restore. */
    public void copyTo(PlainJob empty) throws Exception {
        for (int subtask = 0; subtask < subtasks.size(); subtask++) {
            for (int operator = 0; operator < shape.operators(); operator++) {
                subtasks.get(subtask)
                        .get(operator)
                        .copyTo(empty.subtasks.get(subtask).get(operator));
            }
        }
    }

    /** Drops the checkpoints that can no longer be restored. */
    public void forget(long before) {
        checkpoints.headMap(before).clear();
    }

    private void stop() throws IOException {
        for (List<KeyedOperator> operators : subtasks) {
            for (KeyedOperator operator : operators) {
                operator.close();
            }
        }
        subtasks.clear();
        IOUtils.closeQuietly(environment);
    }

    @Override
    public void close() throws IOException {
        stop();
    }
}
