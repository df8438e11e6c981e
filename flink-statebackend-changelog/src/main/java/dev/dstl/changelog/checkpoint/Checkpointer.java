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

package dev.dstl.changelog.checkpoint;

import dev.dstl.changelog.materialization.BaseLedger;
import dev.dstl.changelog.materialization.BaseReference;
import dev.dstl.changelog.materialization.DelegateSnapshots;
import dev.dstl.changelog.materialization.LogTruncation;
import dev.dstl.changelog.materialization.MaterializationLifecycle;
import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.Materializer;
import dev.dstl.changelog.materialization.SnapshotDeleter;
import dev.dstl.log.api.ChangelogWriter;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * Takes the checkpoints of one keyed backend and follows them until they are subsumed. Used by the
 * task thread. Checkpoints complete on threads of the changelog storage, or on Flink's asynchronous
 * thread if they need a snapshot of the delegate. A checkpoint that cannot be taken is declined;
 * the task continues.
 *
 * @param <K> type of the key
 */
public final class Checkpointer<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final StateChangelogWriter<?> writer;
    private final BaseLedger bases;
    private final DelegateSnapshots<K> snapshots;
    private final MaterializationLifecycle lifecycle;
    private final Materializer materializer;
    private final LogTruncation truncation;
    private final CheckpointAssembler assembler;
    private final SnapshotDeleter deleter;
    private final NativeSavepoints<K> savepoints;
    private final CheckpointDeadline deadline;
    private final ScheduledExecutorService clock;
    private final CheckpointLedger ledger = new CheckpointLedger();
    private final WaitingCheckpoints waiting = new WaitingCheckpoints();
    @Nullable private FullSnapshot uploading;
    private SequenceNumber persistedTo;

    /**
     * Creates a checkpointer. All arguments stay the caller's.
     *
     * @param clock fires timers
     */
    public Checkpointer(
            AbstractKeyedStateBackend<K> delegate,
            StateChangelogWriter<?> writer,
            BaseLedger bases,
            DelegateSnapshots<K> snapshots,
            MaterializationLifecycle lifecycle,
            Materializer materializer,
            LogTruncation truncation,
            CheckpointAssembler assembler,
            SnapshotDeleter deleter,
            CheckpointDeadline deadline,
            ScheduledExecutorService clock,
            CloseableRegistry cancelRegistry) {
        this.delegate = delegate;
        this.writer = writer;
        this.bases = bases;
        this.snapshots = snapshots;
        this.lifecycle = lifecycle;
        this.materializer = materializer;
        this.truncation = truncation;
        this.assembler = assembler;
        this.deleter = deleter;
        this.deadline = deadline;
        this.clock = clock;
        this.savepoints = new NativeSavepoints<>(delegate, snapshots.omitTimers(), cancelRegistry);
        this.persistedTo = writer.initialSequenceNumber();
    }

    /**
     * Starts a checkpoint or a savepoint in the native format. Failures fail the returned future
     * instead of this method.
     *
     * @param timestamp trigger time by the JobManager's clock, in milliseconds since the epoch
     * @return fails instead of this method
     */
    public RunnableFuture<SnapshotResult<KeyedStateHandle>> take(
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streams,
            CheckpointOptions options) {
        try {
            adoptFullSnapshot();
            SnapshotType type = options.getCheckpointType();
            if (type.isSavepoint()) {
                return savepoints.take(bases.takeId(), checkpointId, timestamp, streams, options);
            }
            CheckpointFuture checkpoint = take(checkpointId, type.getSharingFilesStrategy());
            waiting.add(checkpointId, checkpoint);
            deadline.watch(checkpoint.result(), timestamp);
            return checkpoint;
        } catch (Exception e) {
            return CheckpointFuture.failed(e);
        }
    }

    private CheckpointFuture take(long checkpointId, SnapshotType.SharingFilesStrategy sharing)
            throws Exception {
        // a base that no completed checkpoint contains is as independent as a new one
        boolean baseWillDo =
                sharing == SnapshotType.SharingFilesStrategy.FORWARD_BACKWARD
                        ? !bases.fullSnapshotNeeded()
                        : bases.isNewAndFull();
        if (!baseWillDo) {
            return takeFull(checkpointId);
        }
        CheckpointFuture checkpoint = takeLog(checkpointId);
        materializer.checkpointBegun();
        return checkpoint;
    }

    private CheckpointFuture takeLog(long checkpointId) throws IOException {
        MaterializedBase base = bases.current();
        PersistedLog log = persist(checkpointId, base.id(), base.to());
        BaseReference reference = bases.retainCurrent();
        Runnable drop =
                () -> {
                    log.drop();
                    reference.drop();
                };
        CompletableFuture<SnapshotResult<KeyedStateHandle>> result =
                deadline.declineIfTheStoreFails(log.future())
                        .thenApply(
                                persisted ->
                                        assemble(checkpointId, base, reference, persisted, drop));
        onFailure(result, failure -> drop.run());
        return CheckpointFuture.of(result);
    }

    private SnapshotResult<KeyedStateHandle> assemble(
            long checkpointId,
            MaterializedBase base,
            BaseReference reference,
            @Nullable SnapshotResult<? extends ChangelogStateHandle> log,
            Runnable drop) {
        return assembler.assemble(
                checkpointId, base, ledger.overtakable(checkpointId), reference, log, drop);
    }

    private static void onFailure(CompletableFuture<?> result, Consumer<Throwable> action) {
        CompletableFuture<?> unused =
                result.whenComplete(
                        (ignored, failure) -> {
                            if (failure != null) {
                                action.accept(failure);
                            }
                        });
    }

    /** Joins the full snapshot that is being uploaded, or starts one. */
    private CheckpointFuture takeFull(long checkpointId) throws Exception {
        if (uploading != null && bases.isUsable(uploading.id())) {
            Optional<BaseReference> joined = uploading.tryJoin();
            if (joined.isPresent()) {
                return takeFull(checkpointId, uploading, joined.get());
            }
        }
        materializer.cancelRunning();
        // One that has been uploaded would otherwise be the base of the next checkpoint, and files
        // of this snapshot would be missing from a checkpoint between two that contain them.
        bases.demandFullSnapshot();
        uploading =
                new FullSnapshot(
                        snapshots.startFull(bases), snapshots.forgetting(), deleter, clock);
        return takeFull(checkpointId, uploading, uploading.first());
    }

    private CheckpointFuture takeFull(
            long checkpointId, FullSnapshot snapshot, BaseReference reference) throws IOException {
        PersistedLog log;
        try {
            log = persist(checkpointId, snapshot.id(), snapshot.to());
        } catch (Throwable t) {
            snapshot.drop(reference);
            throw t;
        }
        Runnable drop =
                () -> {
                    log.drop();
                    snapshot.drop(reference);
                };
        CompletableFuture<? extends SnapshotResult<? extends ChangelogStateHandle>> changelog =
                deadline.declineIfTheStoreFails(log.future());
        CompletableFuture<SnapshotResult<KeyedStateHandle>> result =
                snapshot.base()
                        .thenCombine(
                                changelog,
                                (base, persisted) ->
                                        assemble(checkpointId, base, reference, persisted, drop));
        onFailure(snapshot.base(), result::completeExceptionally);
        onFailure(changelog, result::completeExceptionally);
        onFailure(result, failure -> drop.run());
        return CheckpointFuture.of(
                snapshot::upload, result, () -> abortOnceUploaded(snapshot, changelog, result));
    }

    /**
     * Ends the wait of an aborted checkpoint for its changelog. Its snapshot is uploaded to the
     * end, since otherwise no snapshot that takes longer than a checkpoint may take would succeed.
     */
    private static void abortOnceUploaded(
            FullSnapshot snapshot, CompletableFuture<?> changelog, CompletableFuture<?> result) {
        CompletableFuture<?> unused =
                snapshot.base()
                        .thenRun(
                                () -> {
                                    if (!changelog.isDone()) {
                                        result.cancel(false);
                                    }
                                });
    }

    private PersistedLog persist(long checkpointId, long materializationId, SequenceNumber from)
            throws IOException {
        truncation.checkpointBegun();
        SequenceNumber to = writer.nextSequenceNumber();
        // A changelog that shares segments with others must be notified of every checkpoint.
        PersistedLog log =
                from.compareTo(to) < 0 || writer instanceof ChangelogWriter
                        ? PersistedLog.of(writer, from, checkpointId)
                        : PersistedLog.empty(writer);
        ledger.started(checkpointId, materializationId, from, to);
        persistedTo = to;
        return log;
    }

    /** Reports that the JobManager has completed a checkpoint. */
    public void confirm(long checkpointId) throws Exception {
        adoptFullSnapshot();
        Optional<LoggedCheckpoint> confirmed = ledger.confirm(checkpointId);
        if (confirmed.isPresent()) {
            LoggedCheckpoint checkpoint = confirmed.get();
            if (writer instanceof ChangelogWriter) {
                // Other storages may delete what an earlier checkpoint contains that is retained,
                // if the task was not told that it is complete.
                truncation.confirmed(checkpoint.from());
            }
            writer.confirm(checkpoint.from(), checkpoint.to(), checkpointId);
            if (bases.confirm(checkpoint.materializationId())) {
                delegate.notifyCheckpointComplete(checkpoint.materializationId());
            }
        }
    }

    /** Reports that the JobManager has aborted a checkpoint. */
    public void abort(long checkpointId) throws Exception {
        adoptFullSnapshot();
        waiting.abort(checkpointId);
        ledger.abort(checkpointId)
                .ifPresent(part -> writer.reset(part.from(), part.to(), checkpointId));
    }

    /** Reports that the JobManager has subsumed all checkpoints up to and including this one. */
    public void subsume(long checkpointId) {
        ledger.subsume(checkpointId).ifPresent(truncation::subsumed);
    }

    /** Ends checkpointing. A base that no checkpoint was sent with is deleted. */
    public void close() {
        bases.close();
    }

    /** Returns the sequence number from which on, inclusive, no record was in a checkpoint. */
    public SequenceNumber persistedTo() {
        return persistedTo;
    }

    /**
     * Makes an uploaded full snapshot the base. Needs no mail: the next checkpoint must see it even
     * if it overtakes all mails.
     */
    private void adoptFullSnapshot() throws Exception {
        if (uploading == null || !uploading.base().isDone()) {
            return;
        }
        FullSnapshot done = uploading;
        uploading = null;
        Optional<BaseReference> reference = done.retainUploaded();
        if (reference.isPresent()) {
            lifecycle.adopt(done.base().join(), reference.get());
        }
    }
}
