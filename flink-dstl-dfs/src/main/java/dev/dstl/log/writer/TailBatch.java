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

import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.commit.BatchListener;
import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.SealedBatch;
import dev.dstl.log.compaction.CompactionInput;
import dev.dstl.log.local.LocalCopy;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import javax.annotation.Nullable;

/**
 * A sealed batch of a changelog. Guarded by the {@link LogTail} it belongs to.
 *
 * <p>A small batch retains its records until it is durable, even after its upload released them, so
 * that they can also be encoded for a handle; after that it retains the encoded bytes.
 */
final class TailBatch implements BatchListener, CompactionInput {

    /** Number of persists for which a run backs off after its first failed read. */
    private static final long FIRST_BACKOFF = 8;

    private static final int MAX_BACKOFF_DOUBLINGS = 4;
    private static final long NO_CHECKPOINT = Long.MAX_VALUE;

    private final TailBatchListener tail;
    private final long sequence;
    private final long end;
    private final int level;
    private final long sizeBytes;
    private final long memoryBytes;
    private final SealedBatch sealed;

    /** One for the tail, and one for each pending persist with the batch. */
    private int references = 1;

    /** The first checkpoint that was given the segment because of this batch. */
    private long firstCheckpoint = NO_CHECKPOINT;

    /** The last one; of no meaning before the first. */
    private long lastCheckpoint;

    private boolean encoding;
    private boolean settled;

    /** Number of compactions that failed because the batch could not be read. */
    private int failedCompactions;

    /** Number of the persist from which on the batch may be compacted again. */
    private long backsOffUntil;

    /** Whether a thread of the last failed compaction still waits for the store. */
    private BooleanSupplier isBeingRead = () -> false;

    /** See {@link #takePendingBytes()}. */
    private long pendingBytes;

    /** Number of pending persists that have the batch inline. */
    private int omissions;

    @Nullable private LogBatch records;
    @Nullable private BatchPosition inlinePosition;
    @Nullable private BatchPosition position;

    /**
     * Creates a batch that is not durable.
     *
     * @param keepRecords whether the batch may have to travel inline
     * @param lastCheckpoint last checkpoint of the changelog before the batch
     */
    TailBatch(TailBatchListener tail, LogBatch batch, boolean keepRecords, long lastCheckpoint) {
        this.tail = tail;
        this.sequence = batch.sequence();
        this.end = sequence + 1;
        this.level = 0;
        this.sizeBytes = batch.sizeBytes();
        this.memoryBytes = CompactionInput.memoryBytes(batch.sizeBytes(), batch.recordCount());
        this.records = keepRecords ? batch.secondOwner() : null;
        this.sealed = new SealedBatch(batch, this, lastCheckpoint);
        this.pendingBytes = sealed.inlineBytes();
    }

    /**
     * Creates a durable batch that replaces others.
     *
     * @param inputs the replaced batches, in order and without gaps
     * @param memoryBytes see {@link #memoryBytes()}
     */
    TailBatch(
            TailBatchListener tail,
            List<TailBatch> inputs,
            SealedBatch sealed,
            BatchPosition position,
            long memoryBytes) {
        TailBatch first = inputs.get(0);
        this.tail = tail;
        this.sequence = first.sequence;
        this.end = inputs.get(inputs.size() - 1).end;
        this.level = 1 + inputs.stream().mapToInt(TailBatch::level).max().orElseThrow();
        this.sizeBytes = inputs.stream().mapToLong(TailBatch::sizeBytes).sum();
        this.memoryBytes = memoryBytes;
        this.sealed = sealed;
        this.position = position;
    }

    @Override
    public void durable(BatchPosition position) {
        tail.durable(this, position);
    }

    @Override
    public void suspended(IOException cause) {
        tail.suspended(this, cause);
    }

    @Override
    public long sequence() {
        return sequence;
    }

    /** Returns the first sequence number after the batch. */
    long end() {
        return end;
    }

    @Override
    public int level() {
        return level;
    }

    @Override
    public boolean isCompactable(long persists) {
        return position != null && !settled && !backsOff(persists) && !isBeingRead.getAsBoolean();
    }

    /** Returns whether the batch backs off because it could not be read. */
    boolean backsOff(long persists) {
        return backsOffUntil > persists;
    }

    /**
     * Records that the batch could not be read. It backs off for a number of persists that grows
     * with each failure, and as long as a thread still tries to read it.
     *
     * @param hangs returns whether a thread still tries to read it
     * @param persists number of persists of the changelog so far
     * @return number of failed reads
     */
    int compactionFailed(BooleanSupplier hangs, long persists) {
        backsOffUntil =
                persists + (FIRST_BACKOFF << Math.min(failedCompactions, MAX_BACKOFF_DOUBLINGS));
        isBeingRead = hangs;
        return ++failedCompactions;
    }

    /** Excludes the batch from compaction because it is too large. */
    void settle() {
        settled = true;
    }

    /** Returns the size of the sealed records in bytes, obsolete ones included. */
    long sizeBytes() {
        return sizeBytes;
    }

    @Override
    public long memoryBytes() {
        return memoryBytes;
    }

    SealedBatch sealed() {
        return sealed;
    }

    boolean isDurable() {
        return position != null;
    }

    /**
     * Returns the inline size of a batch that becomes durable or is truncated, whichever comes
     * first; 0 afterwards.
     */
    long takePendingBytes() {
        long taken = pendingBytes;
        pendingBytes = 0;
        return taken;
    }

    /** Returns whether a handle may contain the batch without waiting for the store. */
    boolean canTravelInline() {
        return records != null || inlinePosition != null;
    }

    /**
     * Returns whether a handle can contain the batch now.
     *
     * @param omitted whether inline, and not by its segment
     */
    boolean hasPosition(boolean omitted) {
        return (omitted ? inlinePosition : position) != null;
    }

    @Override
    public BatchPosition position() {
        return position(false);
    }

    /**
     * Returns the position of the batch for a handle.
     *
     * @param omitted whether inline, and not by its segment
     */
    BatchPosition position(boolean omitted) {
        BatchPosition found = omitted ? inlinePosition : position;
        if (found == null) {
            throw new IllegalStateException(
                    this + " is not " + (omitted ? "encoded" : "durable") + " yet");
        }
        return found;
    }

    /** Reports that a persist has the batch inline. */
    void omit() {
        omissions++;
    }

    /** Reports that a persist that had the batch inline has ended. */
    void omissionEnded() {
        omissions--;
        dropInline();
    }

    /** Drops the encoded bytes when no pending or later handle can need them. */
    private void dropInline() {
        if (position != null && omissions == 0) {
            inlinePosition = null;
        }
    }

    void becameDurable(BatchPosition position) {
        this.position = position;
        dropInline();
        dropRecords();
    }

    /** Returns whether the records must still be encoded for a handle and are not being encoded. */
    boolean needsEncoding() {
        return inlinePosition == null && !encoding;
    }

    /** Returns the records, which the caller encodes and then releases. */
    LogBatch startEncoding() {
        encoding = true;
        return records.secondOwner();
    }

    void becameInline(BatchPosition position) {
        encoding = false;
        inlinePosition = position;
        dropInline();
        dropRecords();
    }

    void encodingFailed() {
        encoding = false;
    }

    void retain() {
        references++;
    }

    /** Drops a reference; returns whether it was the last one. */
    boolean release() {
        if (--references > 0) {
            return false;
        }
        dropRecords();
        return true;
    }

    private void dropRecords() {
        if (records != null) {
            records.release();
            records = null;
        }
    }

    /**
     * Returns the local copy of the segment to which a checkpoint may refer; null if there is none.
     */
    @Nullable
    LocalCopy copyInCheckpoints() {
        boolean handedOver = firstCheckpoint != NO_CHECKPOINT;
        return handedOver && position != null ? position.localCopy() : null;
    }

    /** Returns the first checkpoint that may refer to {@link #copyInCheckpoints()}. */
    long firstCheckpoint() {
        return firstCheckpoint;
    }

    /** Returns the last checkpoint so far that may refer to {@link #copyInCheckpoints()}. */
    long lastCheckpoint() {
        return lastCheckpoint;
    }

    /**
     * Hands the segment over; returns whether no checkpoint was given it before because of this
     * batch.
     */
    boolean handOver(long checkpointId) {
        boolean first = firstCheckpoint == NO_CHECKPOINT;
        firstCheckpoint = Math.min(firstCheckpoint, checkpointId);
        lastCheckpoint = Math.max(lastCheckpoint, checkpointId);
        return first;
    }

    @Override
    public String toString() {
        return "batches [" + sequence + ", " + end + ")";
    }
}
