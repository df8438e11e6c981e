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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The merges of one log: one at a time, and after one that failed the next only some persists
 * later. What could not be read rests for longer, so that others are merged meanwhile. Guarded by
 * the {@link LogTail} it belongs to, which is told of by whoever ends a merge.
 */
final class TailMerges {

    /** Persists without another try after merges failed. */
    private static final int MAX_REST = 16;

    /** Merges or tries of a part that fail in a row before somebody should look after it. */
    private static final int REPORTED_FAILURES = 4;

    private static final Logger LOG = LoggerFactory.getLogger(TailMerges.class);

    private final LogTail tail;
    private final UUID logId;
    private final GroupCommit commit;
    private final LogMerging merging;
    private final HandleAssembler handles;
    private final TailBatches batches;

    /** The one that runs, or waits for its turn. */
    @Nullable private LogMerge current;

    private long persists;
    private int resting;
    private int failuresInARow;

    /** The share of its bytes that the last merge kept; none before there was one. */
    private double kept;

    TailMerges(
            LogTail tail,
            UUID logId,
            GroupCommit commit,
            LogMerging merging,
            HandleAssembler handles,
            TailBatches batches) {
        this.tail = tail;
        this.logId = logId;
        this.commit = commit;
        this.merging = merging;
        this.handles = handles;
        this.batches = batches;
    }

    /**
     * The log is persisted, and longer than before.
     *
     * @return what to start without any lock held
     */
    Optional<LogMerge> persisted() {
        persists++;
        if (resting > 0) {
            resting--;
            return Optional.empty();
        }
        return begin();
    }

    private Optional<LogMerge> begin() {
        if (current != null) {
            return Optional.empty();
        }
        List<TailBatch> run = batches.choose(merging, kept, persists);
        if (run.isEmpty()) {
            return Optional.empty();
        }
        try {
            current = merge(run);
        } catch (Throwable t) {
            merging.memory().ended(run);
            throw t;
        }
        run.forEach(TailBatch::retain);
        return Optional.of(current);
    }

    private LogMerge merge(List<TailBatch> run) {
        List<BatchPosition> positions = new ArrayList<>(run.size());
        for (TailBatch batch : run) {
            positions.add(batch.position());
        }
        return new LogMerge(tail, merging, commit, run, handles.source(positions), logId);
    }

    /**
     * The batches of a merge are durable as one.
     *
     * @param releases gets what is needed no more
     * @return whether the merged batch took their place
     */
    boolean merged(LogMerge ended, BatchPosition position, Releases releases) {
        end(ended, releases);
        failuresInARow = 0;
        kept = ended.kept(position);
        boolean taken = batches.holds(ended.batches());
        if (taken) {
            releases.addAll(ended.batches());
            batches.replace(ended.batches(), ended.merged(position));
        }
        return taken;
    }

    /** After a merge has ended well, there may be more to merge. */
    Optional<LogMerge> next() {
        return begin();
    }

    /**
     * A merge was given up.
     *
     * @param cause null if the batches are too large after all
     * @param releases gets what is needed no more
     * @return what to do without any lock held
     */
    Runnable failed(LogMerge failed, @Nullable Throwable cause, Releases releases) {
        // Truncated segments may be deleted meanwhile, and nobody needs to know.
        boolean needed = batches.holds(failed.batches());
        end(failed, releases);
        if (cause == null) {
            failed.batches().get(0).settle();
            return () -> {};
        }
        resting = Math.min(MAX_REST, 1 << Math.min(failuresInARow, Integer.SIZE - 2)) - 1;
        int failures = ++failuresInARow;
        List<TailBatch> culprits = failed.culprits();
        for (TailBatch culprit : culprits) {
            failures = Math.max(failures, culprit.mergeFailed(failed.read(), persists));
        }
        int reported = failures;
        return () -> {
            culprits.forEach(culprit -> culprit.position().avoidLocalCopy());
            if (needed) {
                merging.metrics().mergeFailed();
                report(reported, cause);
            }
        };
    }

    private void report(int failures, Throwable cause) {
        if (failures % REPORTED_FAILURES == 0) {
            LOG.warn(
                    "Parts of log {} could not be merged, {} times in a row; checkpoints name them"
                            + " one by one. It is tried again. If they cannot be read, a restore"
                            + " may fail too: check the store, and take a savepoint.",
                    logId,
                    failures,
                    cause);
        } else {
            LOG.debug("Parts of log {} could not be merged, which is tried again", logId, cause);
        }
    }

    boolean isCurrent(LogMerge merge) {
        return current == merge;
    }

    private void end(LogMerge ended, Releases releases) {
        current = null;
        releases.addAll(ended.batches());
    }

    /**
     * The log ends.
     *
     * @return what is to be given up without any lock held; null for nothing
     */
    @Nullable
    LogMerge close(Releases releases) {
        LogMerge unwanted = current;
        if (unwanted != null) {
            end(unwanted, releases);
        }
        return unwanted;
    }
}
