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

import dev.dstl.changelog.delegate.CompactionBackOff;
import dev.dstl.changelog.delegate.DelegateFlush;
import dev.dstl.changelog.record.ChangelogAppender;
import dev.dstl.changelog.state.LoggedStateRegistry;
import java.util.concurrent.Executor;
import java.util.concurrent.RunnableFuture;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * Takes snapshots of the delegate that can become a base, and records the changelog position of
 * each. Used by the task thread.
 *
 * @param <K> type of the key
 */
public final class DelegateSnapshots<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final StateChangelogWriter<?> writer;
    private final ChangelogAppender log;
    private final LoggedStateRegistry<K> states;
    private final CheckpointStreamFactory streams;
    private final Executor afterAWhile;
    private final boolean omitTimers;
    private final CompactionBackOff compactions = new CompactionBackOff();

    /**
     * Creates snapshots. All arguments stay the caller's.
     *
     * @param afterAWhile runs actions later, on threads that may block
     */
    public DelegateSnapshots(
            AbstractKeyedStateBackend<K> delegate,
            StateChangelogWriter<?> writer,
            ChangelogAppender log,
            LoggedStateRegistry<K> states,
            CheckpointStreamFactory streams,
            Executor afterAWhile) {
        this.delegate = delegate;
        this.writer = writer;
        this.log = log;
        this.states = states;
        this.streams = streams;
        this.afterAWhile = afterAWhile;
        this.omitTimers =
                delegate.requiresLegacySynchronousTimerSnapshots(CheckpointType.CHECKPOINT);
    }

    /** Returns whether snapshots do not contain timers, which must then be in the changelog. */
    public boolean omitTimers() {
        return omitTimers;
    }

    /**
     * Returns a flush to run on another thread before a snapshot, to shorten its synchronous part;
     * null if it would not.
     */
    @Nullable
    DelegateFlush flush() {
        return DelegateFlush.of(delegate, compactions);
    }

    /** Starts a snapshot that may share files with the newest confirmed snapshot. */
    DelegateSnapshot startSharing(BaseLedger bases) throws Exception {
        return start(
                bases.takeId(),
                bases.confirmedId(),
                CheckpointType.CHECKPOINT,
                bases.current().uploadedFiles());
    }

    /** Starts a snapshot that shares no files with earlier ones. */
    public DelegateSnapshot startFull(BaseLedger bases) throws Exception {
        return start(
                bases.takeId(),
                MaterializedBase.BUILT_ON_NOTHING,
                CheckpointType.FULL_CHECKPOINT,
                SharedFiles.NONE);
    }

    /**
     * Reports that a snapshot failed or was dropped, so that no checkpoint will be built on it.
     * Called on any thread, at most once per snapshot.
     *
     * @param to end of the changelog that it covered
     */
    public void forget(SequenceNumber to) {
        log.forgetRange(to);
    }

    /** Returns what calls {@link #forget} and does not keep the delegate. */
    public Consumer<SequenceNumber> forgetting() {
        return log::forgetRange;
    }

    private DelegateSnapshot start(long id, long builtOn, SnapshotType type, SharedFiles shared)
            throws Exception {
        SequenceNumber to = writer.nextSequenceNumber();
        log.startNewRange();
        try {
            return start(id, builtOn, type, shared, to);
        } catch (Throwable t) {
            forget(to);
            throw t;
        }
    }

    private DelegateSnapshot start(
            long id, long builtOn, SnapshotType type, SharedFiles shared, SequenceNumber to)
            throws Exception {
        SnapshotFiles files = new SnapshotFiles(streams, afterAWhile);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> upload =
                delegate.snapshot(
                        id,
                        System.currentTimeMillis(),
                        files,
                        new CheckpointOptions(
                                type, CheckpointStorageLocationReference.getDefault()));
        SequenceNumber quietTo = to;
        if (omitTimers) {
            try {
                states.relogQueues();
            } catch (Throwable t) {
                upload.cancel(true);
                throw t;
            }
            quietTo = writer.nextSequenceNumber();
        }
        return new DelegateSnapshot(id, builtOn, to, quietTo, upload, files, shared);
    }
}
