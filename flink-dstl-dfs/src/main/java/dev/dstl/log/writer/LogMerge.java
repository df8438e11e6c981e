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
import dev.dstl.log.execution.Timers.Timer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * One merge of neighbouring batches of a log, from the choice until the merged batch is durable or
 * given up, which it is at the latest when the store has taken too long. Thread safe.
 */
final class LogMerge implements Runnable, BatchListener {

    /**
     * How far a merge is.
     *
     * <pre>
     *   WAITING --> READING --> SUBMITTING --> SUBMITTED --> DURABLE
     *      |           |            |  '-----------|----------^ |
     *      '-----------+------------+--------------+------------'
     *                                     v
     *                                 ABANDONED
     * </pre>
     */
    private enum Step {
        WAITING,
        READING,
        /** The merged batch is on its way to the group commit, which cannot give it back yet. */
        SUBMITTING,
        SUBMITTED,
        DURABLE,
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
                    (this == WAITING && next == READING)
                            || (this == READING && next == SUBMITTING)
                            || (this == SUBMITTING && next == SUBMITTED)
                            || ((this == SUBMITTING || this == SUBMITTED) && next == DURABLE)
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
    private MergeRead read;

    /** Null before there is one, and as soon as somebody has it to release it. */
    @GuardedBy("this")
    @Nullable
    private SealedBatch merged;

    @GuardedBy("this")
    private long readMemoryBytes;

    @GuardedBy("this")
    private Step step = Step.WAITING;

    /** When the present step began. */
    @GuardedBy("this")
    private long stepNanos;

    @GuardedBy("this")
    @Nullable
    private Timer deadline;

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
        try {
            MergeRead begun = beginReading();
            if (begun == null) {
                // Given up before it was its turn: nobody else says so.
                merging.ended(this);
                return;
            }
            LogBatch batch = merging.read(begun, source, run.get(0).sequence());
            if (batch == null) {
                tail.mergeFailed(this, null);
            } else {
                submit(batch);
            }
        } catch (Throwable t) {
            // Not only IOException: file systems also throw what their clients throw.
            failed(t);
        }
    }

    /** Something else than the batches themselves prevents the merge. */
    void failed(Throwable cause) {
        try {
            tail.mergeFailed(this, cause);
        } finally {
            merging.ended(this);
        }
    }

    @Nullable
    private synchronized MergeRead beginReading() {
        if (step == Step.ABANDONED) {
            return null;
        }
        step = step.to(Step.READING);
        stepNanos = merging.timers().nanoTime();
        read = merging.newRead(source.getKeyGroupRange(), logId);
        scheduleIn(merging.readPatience().nanos(), this::checkReading);
        return read;
    }

    /** Runs an action unless the merge goes on to another step before. */
    @GuardedBy("this")
    private void scheduleIn(long nanos, Runnable action) {
        cancelDeadline();
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos) + 1;
        deadline = merging.timers().schedule(action, millis);
    }

    @GuardedBy("this")
    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel();
            deadline = null;
        }
    }

    private void checkReading() {
        long requestNanos = merging.readPatience().nanos();
        long requestAge;
        MergeRead reading;
        synchronized (this) {
            if (step != Step.READING) {
                return;
            }
            reading = read;
            requestAge = read.oldestNanos();
            long age = merging.timers().nanoTime() - stepNanos;
            if (requestAge < requestNanos && age < merging.readNanos(bytes())) {
                scheduleIn(requestNanos - requestAge, this::checkReading);
                return;
            }
        }
        merging.giveUp(reading, requestNanos);
        merging.readPatience().ranOut();
        failed(
                new IOException(
                        String.format(
                                "The store did not answer a read for %d ms",
                                TimeUnit.NANOSECONDS.toMillis(requestAge))));
    }

    private long bytes() {
        return run.stream().mapToLong(batch -> batch.position().frameBytes()).sum();
    }

    private void submit(LogBatch batch) {
        SealedBatch sealed = new SealedBatch(batch, this, 0);
        synchronized (this) {
            if (step == Step.ABANDONED) {
                batch.release();
                return;
            }
            step = step.to(Step.SUBMITTING);
            stepNanos = merging.timers().nanoTime();
            merged = sealed;
            readMemoryBytes = LogMerging.memoryBytes(batch.sizeBytes(), batch.recordCount());
            scheduleIn(merging.uploadNanos(bytes()), this::uploadOverdue);
        }
        boolean taken = false;
        try {
            commit.submitAlone(sealed);
            taken = true;
        } finally {
            SealedBatch unwanted = submitted(taken);
            if (unwanted != null) {
                commit.release(unwanted);
            }
        }
    }

    /** Returns the merged batch if it is to be released. */
    @Nullable
    private synchronized SealedBatch submitted(boolean taken) {
        if (step == Step.SUBMITTING) {
            step = step.to(taken ? Step.SUBMITTED : Step.ABANDONED);
        }
        return step == Step.ABANDONED ? takeMerged() : null;
    }

    @GuardedBy("this")
    @Nullable
    private SealedBatch takeMerged() {
        SealedBatch taken = merged;
        merged = null;
        return taken;
    }

    private void uploadOverdue() {
        long age;
        synchronized (this) {
            if (step != Step.SUBMITTING && step != Step.SUBMITTED) {
                return;
            }
            age = merging.timers().nanoTime() - stepNanos;
        }
        merging.uploadPatience().ranOut();
        failed(
                new IOException(
                        String.format(
                                "The merged part was not durable after %d ms",
                                TimeUnit.NANOSECONDS.toMillis(age))));
    }

    /** Those that could not be read, if it was that. */
    List<TailBatch> culprits() {
        Set<StreamStateHandle> unreadable;
        synchronized (this) {
            unreadable = read == null ? Set.of() : read.unreadable();
        }
        List<TailBatch> culprits = new ArrayList<>();
        for (TailBatch batch : run) {
            if (unreadable.contains(batch.position().segment())) {
                culprits.add(batch);
            }
        }
        return culprits;
    }

    /** How it reads; null before it does. */
    @Nullable
    synchronized MergeRead read() {
        return read;
    }

    /**
     * The merged batch, for the place of those it is made of.
     *
     * @param position where it is durable
     */
    synchronized TailBatch merged(BatchPosition position) {
        long memoryBytes = (long) (kept(position) * readMemoryBytes);
        return new TailBatch(tail, run, takeMerged(), position, memoryBytes);
    }

    /**
     * The share of their bytes that is left of the batches, in (0, 1].
     *
     * @param position of the merged batch
     */
    double kept(BatchPosition position) {
        return Math.min(1, (double) position.frameBytes() / bytes());
    }

    /** Nobody wants the merged batch any more. */
    void abandon() {
        MergeRead reading = null;
        SealedBatch unwanted = null;
        synchronized (this) {
            cancelDeadline();
            if (step == Step.READING) {
                reading = read;
            } else if (step == Step.SUBMITTED || step == Step.DURABLE) {
                unwanted = takeMerged();
            }
            step = step.to(Step.ABANDONED);
        }
        try {
            if (reading != null) {
                merging.giveUp(reading, merging.readPatience().nanos());
            }
            if (unwanted != null) {
                commit.release(unwanted);
            }
        } finally {
            merging.ended(this);
        }
    }

    @Override
    public void encoded(long segmentBytes) {
        merging.memory().encoded(run, segmentBytes);
    }

    @Override
    public void durable(BatchPosition position) {
        long nanos;
        synchronized (this) {
            if (step == Step.ABANDONED) {
                return;
            }
            cancelDeadline();
            step = step.to(Step.DURABLE);
            nanos = merging.timers().nanoTime() - stepNanos;
        }
        merging.uploadPatience().sufficed(nanos);
        try {
            tail.merged(this, position);
        } finally {
            merging.ended(this);
        }
    }

    @Override
    public void parked(IOException cause) {
        failed(cause);
    }
}
