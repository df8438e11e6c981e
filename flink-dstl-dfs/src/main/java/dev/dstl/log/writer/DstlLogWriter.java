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

import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagePool;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.compaction.CompactionGoal;
import dev.dstl.log.compaction.Compactor;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.local.LocalLog;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.SequenceNumber.GenericSequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changelog writer of one keyed backend. Records are appended to the active batch. Sealing
 * gives the batch the next sequence number and submits it: at a checkpoint, at a size, or at an
 * age. Used by the task thread only, or by threads that hold this object's monitor, as its mails
 * do.
 *
 * <p>Confirming and resetting change nothing in the store: the JobManager owns a segment once a
 * checkpoint contains it, and segments uploaded for an aborted checkpoint serve the next one.
 * Confirming releases local copies that only older checkpoints contain.
 */
public final class DstlLogWriter implements ChangelogWriter {

    private static final Logger LOG = LoggerFactory.getLogger(DstlLogWriter.class);

    /** Divisor of the usual batch size for sealing while memory is short. */
    private static final int TIGHT_SHARE = 8;

    private final ActiveBatch active;
    private final LogTail tail;
    private final LocalLog localLog;
    private final BatchAge age;
    private final CompactionGoal goal;
    private final Thread mailboxThread = Thread.currentThread();
    private final long sealThresholdBytes;
    private final long tightSealThresholdBytes;

    private long nextSequence;
    private long truncatedTo;
    private boolean closed;

    /**
     * Creates an empty changelog without local copies for recovery.
     *
     * @param logId id of the writer incarnation, never reused
     * @param sealThresholdBytes size in bytes at which the active batch is sealed, at least 1
     * @param commit receives sealed batches; stays the caller's
     * @param compactor compacts durable batches; stays the caller's
     */
    public DstlLogWriter(
            UUID logId,
            KeyGroupRange keyGroupRange,
            PagePool pool,
            long sealThresholdBytes,
            GroupCommit commit,
            Compactor compactor) {
        this(logId, keyGroupRange, logId.toString(), pool, sealThresholdBytes, commit, compactor);
    }

    /**
     * Creates an empty changelog for a task without a mailbox.
     *
     * @param logId id of the writer incarnation, never reused
     * @param operatorId the same for all changelogs of the task, also after restarts
     * @param sealThresholdBytes size in bytes at which the active batch is sealed, at least 1
     * @param commit receives sealed batches; stays the caller's
     * @param compactor compacts durable batches; stays the caller's
     */
    public DstlLogWriter(
            UUID logId,
            KeyGroupRange keyGroupRange,
            String operatorId,
            PagePool pool,
            long sealThresholdBytes,
            GroupCommit commit,
            Compactor compactor) {
        this(logId, keyGroupRange, operatorId, pool, sealThresholdBytes, commit, compactor, null);
    }

    /**
     * Creates an empty changelog.
     *
     * @param logId id of the writer incarnation, never reused
     * @param operatorId the same for all changelogs of the task, also after restarts
     * @param sealThresholdBytes size in bytes at which the active batch is sealed, at least 1
     * @param commit receives sealed batches; stays the caller's
     * @param compactor compacts durable batches; stays the caller's
     * @param mailbox of the task, which receives a mail to seal the batch of an idle task; may be
     *     closed before the changelog
     */
    public DstlLogWriter(
            UUID logId,
            KeyGroupRange keyGroupRange,
            String operatorId,
            PagePool pool,
            long sealThresholdBytes,
            GroupCommit commit,
            Compactor compactor,
            @Nullable MailboxExecutor mailbox) {
        this(
                logId,
                keyGroupRange,
                operatorId,
                pool,
                sealThresholdBytes,
                commit.inlineThresholdBytes(),
                DstlSettings.MAX_RUN_LIMIT,
                commit,
                compactor,
                mailbox);
    }

    /**
     * Creates an empty changelog.
     *
     * @param logId id of the writer incarnation, never reused
     * @param operatorId the same for all changelogs of the task, also after restarts
     * @param sealThresholdBytes size in bytes at which the active batch is sealed, at least 1
     * @param inlineThresholdBytes size in bytes up to which state changes may travel inline in a
     *     handle; 0 for none
     * @param runLimit number of runs that compaction aims at, at least 2
     * @param commit receives sealed batches; stays the caller's
     * @param compactor compacts durable batches; stays the caller's
     * @param mailbox of the task, which receives a mail to seal the batch of an idle task; may be
     *     closed before the changelog
     */
    public DstlLogWriter(
            UUID logId,
            KeyGroupRange keyGroupRange,
            String operatorId,
            PagePool pool,
            long sealThresholdBytes,
            long inlineThresholdBytes,
            int runLimit,
            GroupCommit commit,
            Compactor compactor,
            @Nullable MailboxExecutor mailbox) {
        this.active = new ActiveBatch(logId, keyGroupRange, pool, commit.memory());
        this.age = new BatchAge(mailbox, this::sealIfDue);
        this.goal = new CompactionGoal(runLimit);
        this.localLog = new LocalLog(commit.localCopies(), operatorId, keyGroupRange);
        this.tail =
                new LogTail(
                        logId,
                        inlineThresholdBytes,
                        goal,
                        commit,
                        compactor,
                        new HandleAssembler(keyGroupRange, localLog.isEnabled()),
                        localLog,
                        age);
        this.sealThresholdBytes = sealThresholdBytes;
        this.tightSealThresholdBytes = sealThresholdBytes / TIGHT_SHARE;
    }

    @Override
    public void restoredFrom(long checkpointId) {
        localLog.restoredFrom(checkpointId);
    }

    /** Reports that the task was restored from a checkpoint that the caller does not know. */
    public void restoredFromLatest() {
        localLog.restoredFromLatest();
    }

    @Override
    public void append(
            RecordKind kind,
            int keyGroup,
            int stateId,
            byte[] bytes,
            int keyPrefixLength,
            int keyLength,
            int length) {
        checkOpen();
        active.append(kind, keyGroup, stateId, bytes, keyPrefixLength, keyLength, length);
        if (active.recordCount() == 1) {
            age.begun(nextSequence);
        }
        if (active.sizeBytes() >= sealThresholdBytes
                || age.isDue(nextSequence)
                || (active.isMemoryTight() && active.sizeBytes() >= tightSealThresholdBytes)) {
            seal(true);
        }
    }

    @Override
    public void append(int keyGroup, byte[] value) {
        append(RecordKind.OPAQUE, keyGroup, 0, value, 0, 0, value.length);
    }

    @Override
    public void appendMeta(byte[] value) {
        append(StateChange.META_KEY_GROUP, value);
    }

    /** Handles a mail. The batch may have been sealed meanwhile, and the storage may be closed. */
    private synchronized void sealIfDue() {
        if (Thread.currentThread() != mailboxThread) {
            // A mailbox without a thread, as in test harnesses: the next append seals.
            return;
        }
        if (closed || active.isEmpty() || !age.isDue(nextSequence)) {
            return;
        }
        try {
            seal(true);
        } catch (IllegalStateException storageClosed) {
            LOG.debug("State changes of a storage that is closed are not uploaded", storageClosed);
        }
    }

    /**
     * Seals the active batch.
     *
     * @param due whether the batch shall be uploaded without waiting for others
     */
    private void seal(boolean due) {
        LogBatch sealed;
        try {
            sealed = active.seal(nextSequence);
        } finally {
            // Records that are lost leave a gap, so that no checkpoint completes without them.
            nextSequence += active.isEmpty() ? 1 : 0;
        }
        age.ended();
        tail.add(sealed, due);
    }

    private void sealIfNotEmpty() {
        if (!active.isEmpty()) {
            seal(false);
        }
    }

    @Override
    public SequenceNumber initialSequenceNumber() {
        return SequenceNumber.of(0);
    }

    @Override
    public SequenceNumber nextSequenceNumber() {
        sealIfNotEmpty();
        return SequenceNumber.of(nextSequence);
    }

    @Override
    public CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist(
            SequenceNumber from, long checkpointId) {
        checkOpen();
        sealIfNotEmpty();
        long first = numberOf(from);
        checkRange(truncatedTo <= first && first <= nextSequence, "persist", first, nextSequence);
        localLog.persisting(checkpointId);
        return tail.persist(first, nextSequence, checkpointId);
    }

    @Override
    public void addCompactionBoundary() {
        sealIfNotEmpty();
        tail.addCompactionBoundary(nextSequence);
    }

    @Override
    public void removeCompactionBoundary(SequenceNumber at) {
        tail.removeCompactionBoundary(numberOf(at));
    }

    @Override
    public void baseReplaced(long bytes) {
        goal.setBaseBytes(bytes);
    }

    @Override
    public void dropped(ChangelogStateHandleStreamImpl handle) {
        tail.dropped(handle);
    }

    @Override
    public void truncate(SequenceNumber to) {
        long end = numberOf(to);
        checkRange(end <= nextSequence, "truncate", truncatedTo, end);
        truncatedTo = Math.max(truncatedTo, end);
        tail.truncate(end);
        if (truncatedTo > 0) {
            localLog.truncated();
        }
    }

    @Override
    public void confirm(SequenceNumber from, SequenceNumber to, long checkpointId) {
        long first = numberOf(from);
        long end = numberOf(to);
        checkRange(first <= end && end <= nextSequence, "confirm", first, end);
        localLog.confirmed(checkpointId);
    }

    @Override
    public void reset(SequenceNumber from, SequenceNumber to, long checkpointId) {
        long first = numberOf(from);
        long end = numberOf(to);
        checkRange(first <= end && end <= nextSequence, "reset", first, end);
    }

    /**
     * Closes the changelog. Which segments are deleted depends on what was given to checkpoints,
     * not on {@code from}.
     */
    @Override
    public void truncateAndClose(SequenceNumber from) {
        close();
    }

    /** Closes the changelog and cancels pending persists. No effect the second time. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            age.ended();
            try {
                active.discard();
            } finally {
                tail.close();
            }
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException(
                    "The changelog of this task is closed, nothing can be appended or persisted");
        }
    }

    private void checkRange(boolean valid, String what, long from, long to) {
        if (!valid) {
            throw new IllegalArgumentException(
                    String.format(
                            "Cannot %s [%d, %d): the changelog contains [%d, %d)",
                            what, from, to, truncatedTo, nextSequence));
        }
    }

    private static long numberOf(SequenceNumber number) {
        if (!(number instanceof GenericSequenceNumber)) {
            throw new IllegalArgumentException(
                    "Not a sequence number of this changelog: " + number);
        }
        return ((GenericSequenceNumber) number).number;
    }
}
