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

import dev.dstl.changelog.backend.MaterializationTrigger;
import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.schema.JobClasses;
import dev.dstl.changelog.fixture.ManualMailbox;
import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.InternalCheckpointListener;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointMetrics;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFinalizer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.apache.flink.util.IOUtils;

/** A running task with a chain of keyed operators on DSTL. To be closed. */
final class Subtask implements AutoCloseable {

    private static final int NONE = -1;

    private final JobShape shape;
    private final Deployment deployment;
    private final KeyGroupRange keyGroups;
    private final TaskStateManager stateManager;
    private final FaultyCheckpoints checkpoints;
    private final MockEnvironment environment;
    private final ManualMailbox mailbox = new ManualMailbox();
    private final CloseableRegistry cancelRegistry = new CloseableRegistry();
    private final List<KeyedOperator> operators = new ArrayList<>();
    private final List<RecordedMetrics> metrics = new ArrayList<>();
    private final TreeMap<Long, List<OperatorSnapshotFutures>> running = new TreeMap<>();

    /** Of which operator a materialization runs; -1 for none. */
    private int materializing = NONE;

    /**
     * Whether a checkpoint since then was to be full, for which it is cancelled, or was the first
     * one, before which a materialization may itself be full and another one be needed.
     */
    private boolean mayBeCancelled;

    private boolean checkpointed;

    private boolean incomplete;
    private int localRestores;
    private Throwable localFailure;

    Subtask(
            JobShape shape,
            Deployment deployment,
            KeyGroupRange keyGroups,
            Worker worker,
            JobID jobId,
            TaskStateManager stateManager,
            FaultyCheckpoints checkpoints) {
        this.shape = shape;
        this.deployment = deployment;
        this.keyGroups = keyGroups;
        this.stateManager = stateManager;
        this.checkpoints = checkpoints;
        ExecutionConfig executionConfig = new ExecutionConfig();
        executionConfig.enablePeriodicMaterialize(false);
        environment =
                MockEnvironment.builder()
                        .setJobID(jobId)
                        .setTaskStateManager(stateManager)
                        .setExecutionConfig(executionConfig)
                        .setUserCodeClassLoader(JobClasses.of(deployment.generation()).loader())
                        .setTaskManagerRuntimeInfo(
                                new TestingTaskManagerRuntimeInfo(
                                        worker.configuration(deployment.changelog()),
                                        worker.temporaryDirectory()))
                        .build();
        environment.setMainMailboxExecutor(mailbox);
        environment.setCheckpointStorageAccess(checkpoints.access());
    }

    static OperatorID operatorId(int operator) {
        return new OperatorID(1, operator);
    }

    /**
     * Restores all operators; from local state where there is any, as Flink does. Without the
     * changelog, they are on Flink's backends, which need what {@link PlainJob} says.
     */
    void open(StateBackend delegate, TtlTimeProvider clock) throws Exception {
        for (int index = 0; index < shape.operators(); index++) {
            metrics.add(new RecordedMetrics());
            KeyedOperator operator =
                    new KeyedOperator(
                            restore(delegate, clock, index), shape, deployment.generation());
            operators.add(operator);
            if (shape.registersAtOpen() || !deployment.changelog()) {
                operator.registerAll();
            }
        }
    }

    private CheckpointableKeyedStateBackend<Object> restore(
            StateBackend delegate, TtlTimeProvider clock, int operator) throws Exception {
        Iterator<StateObjectCollection<KeyedStateHandle>> alternatives =
                stateManager
                        .prioritizedOperatorState(operatorId(operator))
                        .getPrioritizedManagedKeyedState()
                        .iterator();
        boolean local = true;
        while (true) {
            List<KeyedStateHandle> handles = new ArrayList<>(alternatives.next());
            local = alternatives.hasNext();
            try {
                CheckpointableKeyedStateBackend<Object> restored =
                        create(delegate, clock, operator, handles);
                localRestores += local ? 1 : 0;
                return restored;
            } catch (Exception e) {
                if (!local) {
                    throw e;
                }
                localFailure = e;
            }
        }
    }

    private CheckpointableKeyedStateBackend<Object> create(
            StateBackend delegate,
            TtlTimeProvider clock,
            int operator,
            List<KeyedStateHandle> handles)
            throws Exception {
        StateBackend backend =
                deployment.changelog()
                        ? new ChangelogStateBackend(delegate)
                        : StateBackendLoader.loadStateBackendFromKeyedStateHandles(
                                delegate, getClass().getClassLoader(), handles);
        return backend.createKeyedStateBackend(
                new KeyedStateBackendParametersImpl<>(
                        environment,
                        environment.getJobID(),
                        "operator-" + operator,
                        shape.keys().serializer(deployment.generation()),
                        JobShape.KEY_GROUPS,
                        keyGroups,
                        environment.getTaskKvStateRegistry(),
                        clock,
                        metrics.get(operator),
                        handles,
                        new CloseableRegistry()));
    }

    KeyGroupRange keyGroups() {
        return keyGroups;
    }

    List<KeyedOperator> operators() {
        return operators;
    }

    /** Number of operators restored from local state. */
    int localRestores() {
        return localRestores;
    }

    /** Reason why local state could not be restored; null if there is none. */
    Throwable localFailure() {
        return localFailure;
    }

    /**
     * A state change has reached a delegate and perhaps not the changelog, so checkpoints may fail.
     */
    void markIncomplete() {
        incomplete = true;
    }

    boolean isIncomplete() {
        return incomplete;
    }

    void trigger(long id, CheckpointOptions options) throws Exception {
        mayBeCancelled |= !checkpointed || options.getCheckpointType() != CheckpointType.CHECKPOINT;
        checkpointed |= !options.getCheckpointType().isSavepoint();
        List<OperatorSnapshotFutures> futures = new ArrayList<>();
        running.put(id, futures);
        for (KeyedOperator operator : operators) {
            OperatorSnapshotFutures future = new OperatorSnapshotFutures();
            future.setKeyedStateManagedFuture(snapshot(operator, id, options));
            futures.add(future);
        }
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            KeyedOperator operator, long id, CheckpointOptions options) throws Exception {
        CheckpointStreamFactory streams =
                checkpoints
                        .access()
                        .resolveCheckpointStorageLocation(id, options.getTargetLocation());
        boolean lacksTimers =
                !deployment.changelog() && deployment.storage().checkpointsLackTimers();
        boolean canonical = lacksTimers || isCanonical(options.getCheckpointType());
        return canonical
                ? StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                operator.backend(), cancelRegistry)
                        .snapshot(id, 0, streams, options)
                : operator.backend().snapshot(id, 0, streams, options);
    }

    private static boolean isCanonical(SnapshotType type) {
        return type.isSavepoint()
                && ((SavepointType) type).getFormatType() == SavepointFormatType.CANONICAL;
    }

    /** Returns the unfinished snapshots. */
    NavigableMap<Long, List<OperatorSnapshotFutures>> running() {
        return running;
    }

    /** Finishes a snapshot and keeps its local part; returns the acknowledgement. */
    TaskStateSnapshot finish(long id) throws Exception {
        List<OperatorSnapshotFutures> futures = running.remove(id);
        TaskStateSnapshot remote = new TaskStateSnapshot();
        TaskStateSnapshot local = new TaskStateSnapshot();
        try {
            for (int operator = 0; operator < futures.size(); operator++) {
                OperatorSnapshotFinalizer result =
                        FlinkConstructors.finalizer(futures.get(operator));
                remote.putSubtaskStateByOperatorID(
                        operatorId(operator), result.getJobManagerOwnedState());
                local.putSubtaskStateByOperatorID(operatorId(operator), result.getTaskLocalState());
            }
        } catch (Exception e) {
            discard(futures);
            throw e;
        }
        stateManager.reportTaskStateSnapshots(
                new CheckpointMetaData(id, 0),
                new CheckpointMetrics(),
                remote,
                local.hasState() ? local : null);
        return remote;
    }

    /** Cancels an unfinished snapshot. */
    void cancel(long id) throws Exception {
        List<OperatorSnapshotFutures> futures = running.remove(id);
        if (futures != null) {
            discard(futures);
        }
    }

    private static void discard(List<OperatorSnapshotFutures> futures) throws Exception {
        for (OperatorSnapshotFutures future : futures) {
            future.cancel();
        }
    }

    void notifyComplete(long id) throws Exception {
        for (KeyedOperator operator : operators) {
            if (operator.backend() instanceof CheckpointListener) {
                ((CheckpointListener) operator.backend()).notifyCheckpointComplete(id);
            }
        }
        stateManager.notifyCheckpointComplete(id);
    }

    void notifySubsumed(long id) throws Exception {
        for (KeyedOperator operator : operators) {
            if (operator.backend() instanceof InternalCheckpointListener) {
                ((InternalCheckpointListener) operator.backend()).notifyCheckpointSubsumed(id);
            }
        }
    }

    void notifyAborted(long id) throws Exception {
        for (KeyedOperator operator : operators) {
            if (operator.backend() instanceof CheckpointListener) {
                ((CheckpointListener) operator.backend()).notifyCheckpointAborted(id);
            }
        }
        stateManager.notifyCheckpointAborted(id);
    }

    /**
     * Begins a materialization; false if there is nothing to do, no changelog, or one that runs.
     */
    boolean materialize(int operator, FaultyCheckpoints.Fault fault) throws Exception {
        if (materializing != NONE
                || !MaterializationTrigger.trigger(operators.get(operator).backend())) {
            return false;
        }
        checkpoints.set(fault);
        long started = count(operator, MaterializationMetrics.STARTED_MATERIALIZATION);
        long ended = ended(operator);
        mailbox.runNext();
        if (count(operator, MaterializationMetrics.STARTED_MATERIALIZATION) == started) {
            // The delegate was flushed first.
            mailbox.runNext();
        }
        if (ended(operator) > ended) {
            checkpoints.set(FaultyCheckpoints.Fault.NONE);
            return false;
        }
        materializing = operator;
        mayBeCancelled = false;
        return true;
    }

    boolean isMaterializing() {
        return materializing != NONE;
    }

    /** How a materialization has ended. */
    enum Ending {
        COMPLETED,
        FAILED,
        CANCELLED
    }

    /** Waits for the end of the running materialization. */
    Ending endMaterialization() throws Exception {
        long completed = count(materializing, MaterializationMetrics.COMPLETED_MATERIALIZATION);
        long ended = ended(materializing);
        mailbox.runNext();
        while (ended(materializing) == ended && !mayBeCancelled) {
            // That was the mail of the timer, which may be due at any time.
            mailbox.runNext();
        }
        boolean cancelled = ended(materializing) == ended;
        boolean succeeded =
                count(materializing, MaterializationMetrics.COMPLETED_MATERIALIZATION) > completed;
        materializing = NONE;
        checkpoints.set(FaultyCheckpoints.Fault.NONE);
        return cancelled ? Ending.CANCELLED : succeeded ? Ending.COMPLETED : Ending.FAILED;
    }

    /** Number of successful materializations of the operator that has had most of them. */
    long mostMaterializations() {
        long most = 0;
        for (int operator = 0; operator < operators.size(); operator++) {
            most =
                    Math.max(
                            most,
                            count(operator, MaterializationMetrics.COMPLETED_MATERIALIZATION));
        }
        return most;
    }

    private long ended(int operator) {
        return count(operator, MaterializationMetrics.COMPLETED_MATERIALIZATION)
                + count(operator, MaterializationMetrics.FAILED_MATERIALIZATION);
    }

    private long count(int operator, String counter) {
        return metrics.get(operator).count(counter);
    }

    /** Ends the task as Flink does. */
    @Override
    public void close() throws IOException {
        mailbox.close();
        for (long id : new ArrayList<>(running.keySet())) {
            try {
                cancel(id);
            } catch (Exception e) {
                throw new IOException(e);
            }
        }
        for (KeyedOperator operator : operators) {
            operator.close();
        }
        IOUtils.closeQuietly(cancelRegistry);
        IOUtils.closeQuietly(stateManager);
        IOUtils.closeQuietly(environment);
    }
}
