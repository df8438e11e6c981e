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

package dev.dstl.log.writer;

import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.compaction.CompactableChangelog;
import dev.dstl.log.compaction.Compaction;
import dev.dstl.log.compaction.CompactionGoal;
import dev.dstl.log.compaction.CompactionListener;
import dev.dstl.log.compaction.Compactor;
import dev.dstl.log.execution.Timers.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compactions of one changelog, one at a time. After a failure the next one waits for some
 * persists or some time, whichever comes first: checkpoints may be rare, and those of an idle task
 * add no run. Runs that could not be read back off for longer, so that others are compacted
 * meanwhile. Guarded by the {@link LogTail} it belongs to.
 */
final class TailCompaction {

    /** Maximum number of persists without a retry after failures. */
    private static final int MAX_BACKOFF = 16;

    /** Doubles with each failure in a row. */
    private static final long FIRST_RETRY_MILLIS = 1_000;

    private static final long MAX_RETRY_MILLIS = 60_000;

    /**
     * Number of failures in a row, of compactions or of reads of one run, from which a warning is
     * logged.
     */
    private static final int REPORTED_FAILURES = 4;

    private static final Logger LOG = LoggerFactory.getLogger(TailCompaction.class);

    private final TailBatchListener tail;
    private final CompactionListener<TailBatch> listener;
    private final UUID logId;
    private final GroupCommit commit;
    private final Compactor compactor;
    private final HandleAssembler handles;
    private final TailBatches batches;
    private final CompactionGoal goal;
    private final Runnable whenRetryIsDue;

    /** The running or waiting compaction. */
    @Nullable private Compaction<TailBatch> current;

    /** Retries after a failure or a lack of memory, unless a persist does so earlier. */
    @Nullable private Timer retry;

    /** Number of persists of the changelog; a retry by timer counts as one. */
    private long persists;

    private int backoff;
    private int failuresInARow;

    /** Survivor ratio of the last compaction; 0 before the first. */
    private double survivorRatio;

    TailCompaction(
            TailBatchListener tail,
            CompactionListener<TailBatch> listener,
            UUID logId,
            GroupCommit commit,
            Compactor compactor,
            HandleAssembler handles,
            TailBatches batches,
            CompactionGoal goal,
            Runnable whenRetryIsDue) {
        this.whenRetryIsDue = whenRetryIsDue;
        this.tail = tail;
        this.listener = listener;
        this.logId = logId;
        this.commit = commit;
        this.compactor = compactor;
        this.handles = handles;
        this.batches = batches;
        this.goal = goal;
    }

    /**
     * Chooses a compaction after a persist.
     *
     * @return compaction to start without a lock held
     */
    Optional<Compaction<TailBatch>> persisted() {
        persists++;
        if (backoff > 0) {
            backoff--;
            return Optional.empty();
        }
        return begin();
    }

    /**
     * Chooses a compaction after a delay, because the last one failed, there was no memory, or the
     * chosen runs turned out to be too large.
     *
     * @return compaction to start without a lock held
     */
    Optional<Compaction<TailBatch>> retryIsDue() {
        persists++;
        retry = null;
        backoff = 0;
        Optional<Compaction<TailBatch>> begun = begin();
        if (current == null && batches.all().stream().anyMatch(this::backsOff)) {
            scheduleRetry();
        }
        return begun;
    }

    private boolean backsOff(TailBatch batch) {
        return batch.backsOff(persists);
    }

    private Optional<Compaction<TailBatch>> begin() {
        if (current != null) {
            return Optional.empty();
        }
        SortedSet<Long> boundaries = batches.boundaries();
        if (boundaries == null) {
            return Optional.empty();
        }
        List<TailBatch> inputs =
                compactor.choose(
                        new CompactableChangelog<>(
                                batches.all(), boundaries, survivorRatio, goal, persists));
        if (inputs.isEmpty()) {
            return Optional.empty();
        }
        if (!compactor.admit(inputs)) {
            // The next persist may be long in coming.
            scheduleRetry();
            return Optional.empty();
        }
        Optional<Compaction<TailBatch>> begun;
        try {
            begun = Optional.of(compaction(inputs));
            cancelRetry();
        } catch (Throwable t) {
            compactor.forget(inputs);
            throw t;
        }
        // Nothing is allocated from here until it is queued: otherwise it could be lost, and the
        // changelog would have no other.
        for (int i = 0; i < inputs.size(); i++) {
            inputs.get(i).retain();
        }
        current = begun.get();
        return begun;
    }

    private Compaction<TailBatch> compaction(List<TailBatch> inputs) {
        List<BatchPosition> positions = new ArrayList<>(inputs.size());
        for (TailBatch batch : inputs) {
            positions.add(batch.position());
        }
        return new Compaction<>(
                listener, compactor, commit, inputs, handles.source(positions), logId);
    }

    /**
     * Replaces the inputs of a compaction by its durable output. An error, such as for lack of
     * memory, changes nothing; the compaction must be failed then.
     *
     * @param lastCheckpoint last checkpoint for which the changelog was persisted
     * @param releases receives the batches that are no longer needed
     * @return whether the output replaced the inputs
     */
    boolean compacted(
            Compaction<TailBatch> ended,
            BatchPosition position,
            long lastCheckpoint,
            UnreferencedBatches releases) {
        List<TailBatch> inputs = ended.inputs();
        releases.expect(inputs.size());
        double ratio = ended.survivorRatio(position);
        boolean needed = batches.holds(inputs);
        boolean taken = needed && ended.mayEnter(lastCheckpoint);
        if (taken) {
            batches.replaceBy(
                    new TailBatch(
                            tail, inputs, ended.output(), position, ended.memoryBytes(position)));
            ended.handOver();
            releases.addAll(inputs);
        }
        end(ended, releases);
        failuresInARow = 0;
        survivorRatio = ratio;
        if (needed && !taken) {
            scheduleRetry();
        }
        return taken;
    }

    /** Chooses a further compaction after a successful one. */
    Optional<Compaction<TailBatch>> next() {
        return begin();
    }

    /**
     * Handles the failure of a compaction.
     *
     * @param cause null if the records need too much memory
     * @param releases receives the batches that are no longer needed
     * @return action to run without a lock held
     */
    Runnable failed(
            Compaction<TailBatch> failed, @Nullable Throwable cause, UnreferencedBatches releases) {
        // Truncated segments may be deleted meanwhile, which is no failure.
        boolean needed = batches.holds(failed.inputs());
        end(failed, releases);
        if (cause == null) {
            failed.inputs().get(0).settle();
            return whenRetryIsDue;
        }
        backoff = Math.min(MAX_BACKOFF, 1 << Math.min(failuresInARow, Integer.SIZE - 2)) - 1;
        int failures = ++failuresInARow;
        scheduleRetry();
        BooleanSupplier hangs = failed.hangs();
        for (TailBatch culprit : failed.culprits()) {
            failures = Math.max(failures, culprit.compactionFailed(hangs, persists));
        }
        int reported = failures;
        return () -> {
            if (needed) {
                compactor.metrics().compactionFailed();
                report(reported, cause);
            }
        };
    }

    /** If that fails, the next persist is the retry. */
    private void scheduleRetry() {
        cancelRetry();
        long delay = FIRST_RETRY_MILLIS << Math.min(failuresInARow, Byte.SIZE);
        try {
            retry = compactor.timers().schedule(whenRetryIsDue, Math.min(MAX_RETRY_MILLIS, delay));
        } catch (Throwable noMemory) {
            LOG.debug("Runs of changelog {} are compacted later", logId, noMemory);
        }
    }

    private void cancelRetry() {
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
    }

    private void report(int failures, Throwable cause) {
        if (failures % REPORTED_FAILURES == 0) {
            LOG.warn(
                    "Runs of changelog {} could not be compacted, {} times in a row; checkpoints"
                            + " list them one by one. Compaction is retried. If they cannot be"
                            + " read, a restore may fail too: check the store, and take a"
                            + " savepoint.",
                    logId,
                    failures,
                    cause);
        } else {
            LOG.debug(
                    "Runs of changelog {} could not be compacted, which is retried", logId, cause);
        }
    }

    boolean isCurrent(Compaction<TailBatch> compaction) {
        return current == compaction;
    }

    private void end(Compaction<TailBatch> ended, UnreferencedBatches releases) {
        current = null;
        releases.addAll(ended.inputs());
    }

    /**
     * Ends compaction because the changelog ends.
     *
     * @param releases receives the batches that are no longer needed
     * @return compaction to abandon without a lock held; null if there is none
     */
    @Nullable
    Compaction<TailBatch> close(UnreferencedBatches releases) {
        cancelRetry();
        Compaction<TailBatch> unwanted = current;
        if (unwanted != null) {
            end(unwanted, releases);
        }
        return unwanted;
    }
}
