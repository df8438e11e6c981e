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

import dev.dstl.changelog.materialization.BaseReference;
import dev.dstl.changelog.materialization.BaseReferences;
import dev.dstl.changelog.materialization.DelegateSnapshot;
import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.SnapshotDeleter;
import dev.dstl.changelog.materialization.UploadWatch;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.util.ExceptionUtils;

/**
 * A full snapshot of the delegate that is part of a checkpoint. Checkpoints that start during its
 * upload join it: they refer to it and to the changelog since. So every checkpoint from the first
 * one on contains it. This is necessary for a base, since the JobManager deletes files that a later
 * checkpoint does not contain.
 *
 * <p>Once the first checkpoint was aborted, no further one joins, so that a hanging upload ends
 * with the checkpoints that already wait for it. Without waiting checkpoints it is interrupted and
 * deleted. Flink cancels an aborted checkpoint only after the upload, on the same thread, so an
 * upload that the store does not answer is given up. Thread-safe.
 *
 * <p>Lives as long as a checkpoint that contains it, also on the local disk for the next attempt of
 * the task. So it does not keep the delegate, nor, once the upload has ended, the objects that the
 * delegate has kept for it.
 */
final class FullSnapshot {

    private final long id;
    private final SequenceNumber to;
    private final SnapshotDeleter deleter;
    private final ScheduledExecutorService clock;

    /** Null once it was uploaded, or as it is deleted. */
    private final AtomicReference<DelegateSnapshot> unfinished;

    private final BaseReferences references;
    private final BaseReference first;
    private final CompletableFuture<MaterializedBase> base = new CompletableFuture<>();
    private volatile boolean closed;

    /**
     * Creates the snapshot with one reference, for the checkpoint that started it.
     *
     * @param forget called with {@link #to()} when no checkpoint can use the snapshot any more;
     *     must not keep the delegate
     * @param clock fires timers
     */
    FullSnapshot(
            DelegateSnapshot snapshot,
            Consumer<SequenceNumber> forget,
            SnapshotDeleter deleter,
            ScheduledExecutorService clock) {
        this.id = snapshot.id();
        this.to = snapshot.to();
        this.deleter = deleter;
        this.clock = clock;
        this.unfinished = new AtomicReference<>(snapshot);
        this.references = new BaseReferences(() -> delete(forget), this::deleteLocalCopies);
        this.first = references.tryRetain().orElseThrow();
    }

    private void delete(Consumer<SequenceNumber> forget) {
        forget.accept(to);
        DelegateSnapshot snapshot = unfinished.getAndSet(null);
        if (snapshot != null) {
            deleter.deleteLater(snapshot);
        } else {
            CompletableFuture<?> unused = base.thenAccept(deleter::deleteLater);
        }
    }

    private void deleteLocalCopies() {
        CompletableFuture<?> unused = base.thenAccept(deleter::deleteLocalCopiesLater);
    }

    /** Returns the materialization id. */
    long id() {
        return id;
    }

    /** Returns the sequence number from which on, inclusive, records are not in the snapshot. */
    SequenceNumber to() {
        return to;
    }

    /** Returns a future that completes after the upload. */
    CompletableFuture<MaterializedBase> base() {
        return base;
    }

    /** Uploads on the calling thread, or waits for the thread that does. */
    void upload() {
        DelegateSnapshot snapshot = unfinished.get();
        if (snapshot == null) {
            base.completeExceptionally(new CancellationException("The snapshot was deleted"));
            return;
        }
        UploadWatch watch = new UploadWatch(clock, snapshot, this::giveUp);
        try {
            watch.start();
            // One that was given up is deleted with its result.
            if (base.complete(snapshot.base(snapshot.run()))) {
                unfinished.compareAndSet(snapshot, null);
            }
        } catch (Throwable t) {
            base.completeExceptionally(t);
            ExceptionUtils.rethrowIfFatalError(t);
        } finally {
            watch.end();
        }
    }

    /** Fails all checkpoints that wait for the upload, so that it is interrupted and deleted. */
    private void giveUp(IOException silent) {
        closed = true;
        base.completeExceptionally(silent);
    }

    /**
     * Takes a reference for one more checkpoint.
     *
     * @return empty if the checkpoint cannot join
     */
    Optional<BaseReference> tryJoin() {
        return closed || base.isCompletedExceptionally()
                ? Optional.empty()
                : references.tryRetain();
    }

    /** Returns the reference of the checkpoint that started the snapshot. */
    BaseReference first() {
        return first;
    }

    /**
     * Drops the reference of a checkpoint that will never be sent. After the first one, no
     * checkpoint can join.
     */
    void drop(BaseReference reference) {
        if (reference == first) {
            closed = true;
        }
        reference.drop();
    }

    /**
     * Takes a reference that keeps the base after the upload; empty if the upload failed or the
     * files are being deleted.
     */
    Optional<BaseReference> retainUploaded() {
        return base.isCompletedExceptionally() ? Optional.empty() : references.tryRetain();
    }
}
