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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.commit.BatchListener;
import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.commit.SealedBatch;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * One merge of neighbouring batches of a log, from the choice until the merged batch is durable or
 * given up. Thread safe.
 */
final class LogMerge implements Runnable, BatchListener {

    /**
     * How far a merge is.
     *
     * <pre>
     *   READING ----> SUBMITTING ----> SUBMITTED
     *      |              |                |
     *      '--------------+----------------'----> ABANDONED
     * </pre>
     */
    private enum Step {
        READING,
        /** The merged batch is on its way to the group commit, which cannot give it back yet. */
        SUBMITTING,
        SUBMITTED,
        /** Nobody wants the merged batch any more. */
        ABANDONED;

        /**
         * Moves on.
         *
         * @return {@code next}
         * @throws IllegalStateException if the picture has no such arrow
         */
        Step to(Step next) {
            boolean allowed =
                    (this == READING && next == SUBMITTING)
                            || (this == SUBMITTING && next == SUBMITTED)
                            || next == ABANDONED;
            if (!allowed) {
                throw new IllegalStateException("A merge cannot go from " + this + " to " + next);
            }
            return next;
        }
    }

    private final LogTail tail;
    private final LogMerging merging;
    private final GroupCommit commit;
    private final List<TailBatch> run;
    private final ChangelogStateHandleStreamImpl source;
    private final UUID logId;

    @GuardedBy("this")
    @Nullable
    private SealedBatch merged;

    @GuardedBy("this")
    private long readMemoryBytes;

    @GuardedBy("this")
    private Step step = Step.READING;

    /**
     * A merge that has not begun.
     *
     * @param run at least two, retained by the tail until the merge ends
     * @param source where their records are
     */
    LogMerge(
            LogTail tail,
            LogMerging merging,
            GroupCommit commit,
            List<TailBatch> run,
            ChangelogStateHandleStreamImpl source,
            UUID logId) {
        this.tail = tail;
        this.merging = merging;
        this.commit = commit;
        this.run = run;
        this.source = source;
        this.logId = logId;
    }

    List<TailBatch> batches() {
        return run;
    }

    @Override
    public void run() {
        if (isAbandoned()) {
            // Given up before it was queued: nobody else says so.
            merging.ended(this);
            return;
        }
        try {
            LogBatch batch = merging.read(source, logId, run.get(0).sequence());
            if (batch == null) {
                tail.mergeFailed(this, null);
            } else {
                submit(batch);
            }
        } catch (Throwable t) {
            // Not only IOException: file systems also throw what their clients throw.
            tail.mergeFailed(this, t);
        }
    }

    private void submit(LogBatch batch) {
        SealedBatch sealed = new SealedBatch(batch, this, 0);
        synchronized (this) {
            if (step == Step.ABANDONED) {
                batch.release();
                return;
            }
            step = step.to(Step.SUBMITTING);
            merged = sealed;
            readMemoryBytes = LogMerging.memoryBytes(batch.sizeBytes(), batch.recordCount());
        }
        try {
            commit.submitAlone(sealed);
        } catch (IllegalStateException closed) {
            batch.release();
            throw closed;
        }
        boolean late;
        synchronized (this) {
            late = step == Step.ABANDONED;
            if (!late) {
                step = step.to(Step.SUBMITTED);
            }
        }
        if (late) {
            commit.release(sealed);
        }
    }

    private synchronized boolean isAbandoned() {
        return step == Step.ABANDONED;
    }

    /**
     * The merged batch, for the place of those it is made of.
     *
     * @param position where it is durable
     */
    TailBatch merged(BatchPosition position) {
        SealedBatch sealed;
        long memoryBytes;
        synchronized (this) {
            sealed = merged;
            memoryBytes = readMemoryBytes;
        }
        return new TailBatch(tail, run, sealed, position, (long) (kept(position) * memoryBytes));
    }

    /**
     * The share of their bytes that is left of the batches, in (0, 1].
     *
     * @param position of the merged batch
     */
    double kept(BatchPosition position) {
        long bytes = run.stream().mapToLong(batch -> batch.position().frameBytes()).sum();
        return Math.min(1, (double) position.frameBytes() / bytes);
    }

    /** Nobody wants the merged batch any more. */
    void abandon() {
        SealedBatch unwanted;
        synchronized (this) {
            unwanted = step == Step.SUBMITTED ? merged : null;
            step = step.to(Step.ABANDONED);
        }
        if (unwanted != null) {
            commit.release(unwanted);
        }
        merging.ended(this);
    }

    @Override
    public void encoded(long segmentBytes) {
        merging.memory().encoded(run, segmentBytes);
    }

    @Override
    public void durable(BatchPosition position) {
        tail.merged(this, position);
        merging.ended(this);
    }

    @Override
    public void parked(IOException cause) {
        tail.mergeFailed(this, cause);
    }
}
