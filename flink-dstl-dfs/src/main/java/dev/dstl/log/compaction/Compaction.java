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

package dev.dstl.log.compaction;

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
import java.util.function.BooleanSupplier;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One compaction of neighbouring runs of a changelog, from the choice until the output is durable
 * or the compaction is abandoned, at the latest at a timeout. Thread-safe.
 *
 * @param <B> the runs of the changelog
 */
public final class Compaction<B extends CompactionInput>
        implements CompactionQueue.Task, BatchListener, CompactionOutput {

    /**
     * The progress of a compaction.
     *
     * <pre>
     *   WAITING --> READING --> GATHERED --> SUBMITTING --> SUBMITTED --> DURABLE
     *      |           |           |             |  '-----------|----------^ |
     *      '-----------+-----------+-------------+--------------+------------'
     *                                      v
     *                                  ABANDONED
     * </pre>
     */
    private enum Step {
        WAITING,
        READING,
        /** The output waits for those of other changelogs, to share their segment. */
        GATHERED,
        /** The output is being submitted to the group commit, which cannot release it yet. */
        SUBMITTING,
        SUBMITTED,
        DURABLE,
        /** The output is no longer needed. */
        ABANDONED;

        /**
         * Moves on to the next step.
         *
         * @return {@code next}
         * @throws IllegalStateException if there is no such transition
         */
        Step to(Step next) {
            boolean allowed =
                    (this == WAITING && next == READING)
                            || (this == READING && next == GATHERED)
                            || (this == GATHERED && next == SUBMITTING)
                            || (this == SUBMITTING && next == SUBMITTED)
                            || ((this == SUBMITTING || this == SUBMITTED) && next == DURABLE)
                            || next == ABANDONED;
            if (!allowed) {
                throw new IllegalStateException(
                        "A compaction cannot go from " + this + " to " + next);
            }
            return next;
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);

    private final CompactionListener<B> listener;
    private final Compactor compactor;
    private final GroupCommit commit;
    private final List<B> inputs;
    private final ChangelogStateHandleStreamImpl source;
    private final UUID logId;

    @GuardedBy("this")
    @Nullable
    private CompactionRead read;

    /** Records of the output while it waits for others. */
    @GuardedBy("this")
    @Nullable
    private LogBatch records;

    /** Null before the output is submitted, and once it is handed over. */
    @GuardedBy("this")
    @Nullable
    private SealedBatch output;

    @GuardedBy("this")
    private long readMemoryBytes;

    @GuardedBy("this")
    private Step step = Step.WAITING;

    /** When the current step began. */
    @GuardedBy("this")
    private long stepNanos;

    @GuardedBy("this")
    @Nullable
    private Timer deadline;

    /**
     * Creates a compaction that has not begun.
     *
     * @param listener notified when the compaction ends
     * @param inputs at least two; kept by the caller until the compaction ends
     * @param source handle from which their records are read
     */
    public Compaction(
            CompactionListener<B> listener,
            Compactor compactor,
            GroupCommit commit,
            List<B> inputs,
            ChangelogStateHandleStreamImpl source,
            UUID logId) {
        this.listener = listener;
        this.compactor = compactor;
        this.commit = commit;
        this.inputs = inputs;
        this.source = source;
        this.logId = logId;
    }

    /** Returns the runs that are compacted into one, in order. */
    public List<B> inputs() {
        return inputs;
    }

    @Override
    public void run() {
        try {
            CompactionRead begun = beginReading();
            if (begun == null) {
                // Abandoned while it waited: nothing else reports its end.
                compactor.ended(this);
                return;
            }
            LogBatch batch = compactor.read(begun, source, inputs.get(0).sequence());
            if (batch == null) {
                listener.compactionFailed(this, null);
            } else {
                gather(batch);
            }
        } catch (Throwable t) {
            // Not only IOException: file systems also throw what their clients throw.
            failed(t);
        }
    }

    @Override
    public void failed(Throwable cause) {
        try {
            listener.compactionFailed(this, cause);
        } finally {
            compactor.ended(this);
        }
    }

    @Nullable
    private synchronized CompactionRead beginReading() {
        if (step == Step.ABANDONED) {
            return null;
        }
        step = step.to(Step.READING);
        stepNanos = compactor.timers().nanoTime();
        read = compactor.newRead(source.getKeyGroupRange(), logId, inputs);
        scheduleIn(compactor.readTimeout().nanos(), this::checkReading);
        return read;
    }

    /** Runs an action after a delay, unless the compaction reaches another step before. */
    @GuardedBy("this")
    private void scheduleIn(long nanos, Runnable action) {
        cancelDeadline();
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos) + 1;
        deadline = compactor.timers().schedule(action, millis);
    }

    @GuardedBy("this")
    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel();
            deadline = null;
        }
    }

    private void checkReading() {
        long requestNanos = compactor.readTimeout().nanos();
        long requestAge;
        boolean inTime;
        CompactionRead reading;
        synchronized (this) {
            if (step != Step.READING) {
                return;
            }
            reading = read;
            requestAge = read.oldestNanos();
            long age = compactor.timers().nanoTime() - stepNanos;
            inTime = requestAge < requestNanos && age < compactor.readNanos(bytes());
            if (inTime && checksAgainIn(requestNanos - requestAge)) {
                return;
            }
        }
        compactor.giveUp(reading, requestNanos);
        if (inTime) {
            failed(new IOException("A read cannot be timed for lack of memory"));
            return;
        }
        compactor.readTimeout().expired();
        failed(
                new IOException(
                        String.format(
                                "The store did not answer a read for %d ms",
                                TimeUnit.NANOSECONDS.toMillis(requestAge))));
    }

    /** Returns false if nothing would end a request that hangs. */
    @GuardedBy("this")
    private boolean checksAgainIn(long nanos) {
        try {
            scheduleIn(nanos, this::checkReading);
            return true;
        } catch (Throwable noMemory) {
            LOG.debug("A compaction is given up, since its read cannot be timed", noMemory);
            return false;
        }
    }

    private long bytes() {
        return inputs.stream().mapToLong(CompactionInput::frameBytes).sum();
    }

    private void gather(LogBatch batch) {
        synchronized (this) {
            if (step == Step.ABANDONED) {
                batch.release();
                return;
            }
            cancelDeadline();
            step = step.to(Step.GATHERED);
            records = batch;
            readMemoryBytes = CompactionInput.memoryBytes(batch.sizeBytes(), batch.recordCount());
            compactor.memory().grew(inputs, readMemoryBytes);
        }
        compactor.gather(this, commit, batch.sizeBytes());
    }

    @Override
    @Nullable
    public SealedBatch startSubmitting(long bytes) {
        long lastCheckpoint = listener.lastCheckpoint();
        synchronized (this) {
            if (step != Step.GATHERED) {
                return null;
            }
            step = step.to(Step.SUBMITTING);
            stepNanos = compactor.timers().nanoTime();
            output = SealedBatch.output(records, this, lastCheckpoint);
            records = null;
            scheduleIn(compactor.uploadNanos(bytes), this::uploadTimedOut);
            return output;
        }
    }

    @Override
    public void submitted(@Nullable Throwable refusal) {
        SealedBatch unwanted = null;
        synchronized (this) {
            if (step == Step.SUBMITTING) {
                step = step.to(refusal == null ? Step.SUBMITTED : Step.ABANDONED);
            }
            if (step == Step.ABANDONED) {
                unwanted = takeOutput();
            }
        }
        if (unwanted != null) {
            commit.release(unwanted);
        }
        if (refusal != null) {
            failed(refusal);
        }
    }

    @GuardedBy("this")
    @Nullable
    private SealedBatch takeOutput() {
        SealedBatch taken = output;
        output = null;
        return taken;
    }

    private void uploadTimedOut() {
        long age;
        synchronized (this) {
            if (step != Step.SUBMITTING && step != Step.SUBMITTED) {
                return;
            }
            age = compactor.timers().nanoTime() - stepNanos;
        }
        compactor.uploadTimeout().expired();
        failed(
                new IOException(
                        String.format(
                                "The compacted run was not durable after %d ms",
                                TimeUnit.NANOSECONDS.toMillis(age))));
    }

    /**
     * Returns the inputs that could not be read; empty if the compaction failed for another reason.
     */
    public List<B> culprits() {
        Set<StreamStateHandle> unreadable;
        synchronized (this) {
            unreadable = read == null ? Set.of() : read.unreadable();
        }
        List<B> culprits = new ArrayList<>();
        for (B input : inputs) {
            if (unreadable.contains(input.position().segment())) {
                culprits.add(input);
            }
        }
        return culprits;
    }

    /**
     * Returns a supplier that reports, at any later time, whether a thread of this compaction still
     * waits for the store.
     */
    public synchronized BooleanSupplier hangs() {
        CompactionRead reading = read;
        return reading == null ? () -> false : reading::isHanging;
    }

    /**
     * Asks whether checkpoints of the changelog may name the output from now on. If not, they never
     * may.
     *
     * @param lastCheckpoint the last checkpoint of the changelog so far
     */
    public boolean mayEnter(long lastCheckpoint) {
        SealedBatch entering = output();
        return entering != null && commit.enter(entering, lastCheckpoint);
    }

    /** Returns the output; null before it is submitted, and once it is handed over. */
    @Nullable
    public synchronized SealedBatch output() {
        return output;
    }

    /** Hands over the output, which replaces the inputs; owned by the caller from then on. */
    public synchronized void handOver() {
        output = null;
    }

    /**
     * Returns the estimated memory in bytes that a later compaction needs for the records of the
     * output.
     *
     * @param position of the output
     */
    public synchronized long memoryBytes(BatchPosition position) {
        return (long) (survivorRatio(position) * readMemoryBytes);
    }

    /**
     * Returns the ratio of output bytes to input bytes, in (0, 1].
     *
     * @param position of the output
     */
    public double survivorRatio(BatchPosition position) {
        return Math.min(1, (double) position.frameBytes() / bytes());
    }

    @Override
    public void abandon() {
        CompactionRead reading = null;
        SealedBatch unwanted = null;
        LogBatch unused = null;
        synchronized (this) {
            cancelDeadline();
            unused = records;
            records = null;
            if (step == Step.READING) {
                reading = read;
            } else if (step == Step.SUBMITTED || step == Step.DURABLE) {
                unwanted = takeOutput();
            }
            step = step.to(Step.ABANDONED);
        }
        try {
            if (reading != null) {
                compactor.giveUp(reading, compactor.readTimeout().nanos());
            }
            if (unused != null) {
                unused.release();
            }
            if (unwanted != null) {
                commit.release(unwanted);
            }
        } finally {
            compactor.ended(this);
        }
    }

    @Override
    public void encoded(long frameBytes) {
        compactor.memory().encoded(inputs, frameBytes);
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
            nanos = compactor.timers().nanoTime() - stepNanos;
        }
        compactor.uploadTimeout().sufficed(nanos);
        // The changelog's next compaction may need it.
        compactor.memory().ended(inputs);
        try {
            listener.compacted(this, position);
        } catch (Throwable t) {
            failed(t);
            throw t;
        } finally {
            compactor.ended(this);
        }
    }

    @Override
    public void suspended(IOException cause) {
        failed(cause);
    }
}
