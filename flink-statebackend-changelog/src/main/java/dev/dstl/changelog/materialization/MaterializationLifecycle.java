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

package dev.dstl.changelog.materialization;

import dev.dstl.changelog.delegate.DelegateFlush;
import dev.dstl.log.api.ChangelogWriter;
import java.util.Optional;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of a materialization on the task thread: whether one may start, and what its end
 * changes. {@link Materializer} schedules materializations and uploads them on another thread.
 */
public final class MaterializationLifecycle {

    private static final Logger LOG = LoggerFactory.getLogger(MaterializationLifecycle.class);

    private final BaseLedger bases;
    private final DelegateSnapshots<?> snapshots;
    private final StateChangelogWriter<?> writer;
    private final LogTruncation truncation;
    private final CheckpointListener delegate;
    private final SnapshotDeleter deleter;

    /**
     * Creates a lifecycle. All arguments stay the caller's.
     *
     * @param delegate notified of snapshots that failed or were dropped
     * @param deleter deletes snapshots that no checkpoint contains
     */
    public MaterializationLifecycle(
            BaseLedger bases,
            DelegateSnapshots<?> snapshots,
            StateChangelogWriter<?> writer,
            LogTruncation truncation,
            CheckpointListener delegate,
            SnapshotDeleter deleter) {
        this.bases = bases;
        this.snapshots = snapshots;
        this.writer = writer;
        this.truncation = truncation;
        this.delegate = delegate;
        this.deleter = deleter;
        reportBase();
    }

    /** Only DSTL's storage compacts and needs the size of the base. */
    private void reportBase() {
        if (writer instanceof ChangelogWriter) {
            ((ChangelogWriter) writer).baseReplaced(bases.current().snapshotBytes());
        }
    }

    /**
     * Returns a flush to run on another thread before {@link #begin}, to shorten its synchronous
     * part; empty if it would not.
     */
    Optional<DelegateFlush> flush() {
        return isDue() ? Optional.ofNullable(snapshots.flush()) : Optional.empty();
    }

    private boolean isDue() {
        return bases.current().isBehind(writer.nextSequenceNumber()) && !awaitsConfirmation();
    }

    /**
     * Returns whether a checkpoint must confirm the last materialization before the next one can
     * begin. Not in a job without checkpoints, whose changelog would otherwise grow forever.
     */
    boolean awaitsConfirmation() {
        return !bases.sharingIsSafe() && truncation.hasCheckpoint();
    }

    /**
     * Starts a materialization.
     *
     * @return empty if nothing has changed since the last one, or if a checkpoint must first
     *     confirm the last one
     * @throws Exception if the synchronous part fails; nothing has changed then
     */
    public Optional<DelegateSnapshot> begin() throws Exception {
        if (!bases.current().isBehind(writer.nextSequenceNumber())) {
            return Optional.empty();
        }
        if (awaitsConfirmation()) {
            LOG.info("No materialization before a checkpoint has confirmed {}", bases.current());
            return Optional.empty();
        }
        return Optional.of(
                bases.sharingIsSafe() ? snapshots.startSharing(bases) : snapshots.startFull(bases));
    }

    /**
     * Makes an uploaded materialization the base, or drops it if a full snapshot is newer or has
     * been required since.
     */
    public void complete(DelegateSnapshot snapshot, MaterializedBase base) throws Exception {
        if (bases.isObsolete(snapshot.id()) || !bases.isUsable(snapshot.id())) {
            snapshots.forget(snapshot.to());
            drop(base);
            return;
        }
        LOG.info("New {}", base);
        replace(base, references(deleter, base).tryRetain().orElseThrow());
    }

    /**
     * Static, since checkpoints outlive the task, and what they keep must not keep the delegate.
     */
    private static BaseReferences references(SnapshotDeleter deleter, MaterializedBase base) {
        return new BaseReferences(
                () -> deleter.deleteLater(base), () -> deleter.deleteLocalCopiesLater(base));
    }

    /**
     * Makes a full snapshot that a checkpoint contains the base, unless it is older than the
     * current base.
     *
     * @param reference owned by this method
     */
    public void adopt(MaterializedBase full, BaseReference reference) throws Exception {
        if (bases.isObsolete(full.id())) {
            reference.drop();
            return;
        }
        LOG.info("New full {}", full);
        replace(full, reference);
    }

    private void replace(MaterializedBase base, BaseReference reference) throws Exception {
        long formerId = bases.current().id();
        boolean formerDeleted = bases.replace(base, reference);
        reportBase();
        truncation.materialized(base.to());
        // A base that a completed checkpoint contains is not aborted, whoever deletes it.
        if (formerDeleted && formerId > bases.confirmedId()) {
            delegate.notifyCheckpointAborted(formerId);
        }
    }

    /** Drops a materialization that failed or was cancelled. */
    public void fail(DelegateSnapshot snapshot) throws Exception {
        snapshots.forget(snapshot.to());
        delegate.notifyCheckpointAborted(snapshot.id());
    }

    private void drop(MaterializedBase base) throws Exception {
        deleter.deleteLater(base);
        delegate.notifyCheckpointAborted(base.id());
    }
}
