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
 * The steps of a materialization on the task thread: whether one may start, and the effects of its
 * end. {@link Materializer} schedules it, and uploads on another thread.
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
     * @param delegate hears of snapshots that came to nothing
     * @param deleter deletes what no checkpoint got
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

    /** Other storages than DSTL's compact nothing. */
    private void reportBase() {
        if (writer instanceof ChangelogWriter) {
            ((ChangelogWriter) writer).baseReplaced(bases.current().snapshotBytes());
        }
    }

    /**
     * What to run on another thread before {@link #begin}, which then blocks the task thread less;
     * empty if it would not.
     */
    Optional<DelegateFlush> flush() {
        return isDue() ? Optional.ofNullable(snapshots.flush()) : Optional.empty();
    }

    private boolean isDue() {
        return bases.current().isBehind(writer.nextSequenceNumber()) && bases.sharingIsSafe();
    }

    /**
     * Starts a materialization.
     *
     * @return empty if there is nothing new, or if the delegate must not build on its last snapshot
     *     before a checkpoint has confirmed it
     * @throws Exception if the synchronous part fails; nothing has changed then
     */
    public Optional<DelegateSnapshot> begin() throws Exception {
        if (!bases.current().isBehind(writer.nextSequenceNumber())) {
            return Optional.empty();
        }
        if (!bases.sharingIsSafe()) {
            LOG.info("No materialization before a checkpoint has confirmed {}", bases.current());
            return Optional.empty();
        }
        return Optional.of(snapshots.startSharing(bases));
    }

    /** Makes an uploaded materialization the base, unless a full snapshot has overtaken it. */
    public void complete(DelegateSnapshot snapshot, MaterializedBase base) throws Exception {
        if (bases.isObsolete(snapshot.id()) || bases.fullSnapshotNeeded()) {
            snapshots.forget(snapshot.to());
            drop(base);
            return;
        }
        LOG.info("New {}", base);
        BaseReferences references =
                new BaseReferences(
                        () -> deleter.deleteLater(base),
                        () -> deleter.deleteLocalCopiesLater(base));
        replace(base, references.tryRetain().orElseThrow());
    }

    /**
     * Makes a full snapshot that a checkpoint contains the base, unless it is older than the
     * current one.
     *
     * @param reference becomes the receiver's
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
        if (formerDeleted) {
            delegate.notifyCheckpointAborted(formerId);
        }
    }

    /** Forgets a materialization that failed or was cancelled. */
    public void fail(DelegateSnapshot snapshot) throws Exception {
        snapshots.forget(snapshot.to());
        delegate.notifyCheckpointAborted(snapshot.id());
    }

    private void drop(MaterializedBase base) throws Exception {
        deleter.deleteLater(base);
        delegate.notifyCheckpointAborted(base.id());
    }
}
