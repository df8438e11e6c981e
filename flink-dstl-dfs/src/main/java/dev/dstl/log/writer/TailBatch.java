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
 * A sealed batch of a log. Guarded by the {@link LogTail} it belongs to.
 *
 * <p>A small batch retains its records until it is durable, even after its upload released them, so
 * that they can also be encoded for a handle; after that it retains the encoded bytes.
 */
final class TailBatch implements BatchListener, CompactionInput {

    /** Persists. */
    private static final long FIRST_BACKOFF = 8;

    private static final int MAX_BACKOFF_DOUBLINGS = 4;

    private final TailBatchListener tail;
    private final long sequence;
    private final long end;
    private final int level;
    private final long sizeBytes;
    private final long memoryBytes;
    private final SealedBatch sealed;

    /** One for the tail, one for every persist under way that contains the batch. */
    private int references = 1;

    private boolean handedOver;
    private boolean encoding;
    private boolean settled;

    /** Compactions that failed because it could not be read. */
    private int failedCompactions;

    /** The persist of the log from which it may be compacted again. */
    private long backsOffUntil;

    /** Whether a thread of the last one that did not get it still waits for the store. */
    private BooleanSupplier isBeingRead = () -> false;

    /** Persists under way that have it inline, whatever becomes of its segment. */
    private int omissions;

    @Nullable private LogBatch records;
    @Nullable private BatchPosition inlinePosition;
    @Nullable private BatchPosition position;

    /**
     * @param keepRecords whether the batch may have to travel in a handle
     * @param lastCheckpoint of the log, before the batch
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
    }

    /**
     * A durable batch in the place of some.
     *
     * @param inputs those, in order and without gaps
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

    /** One more than the last sequence number in it. */
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

    /** Whether it could not be read a while ago. */
    boolean backsOff(long persists) {
        return backsOffUntil > persists;
    }

    /**
     * It could not be read, and backs off for a while that grows with each time; and for as long as
     * a thread still tries to read it.
     *
     * @param hangs whether a thread does
     * @param persists of the log so far
     * @return how often it could not be read
     */
    int compactionFailed(BooleanSupplier hangs, long persists) {
        backsOffUntil =
                persists + (FIRST_BACKOFF << Math.min(failedCompactions, MAX_BACKOFF_DOUBLINGS));
        isBeingRead = hangs;
        return ++failedCompactions;
    }

    /** It is too large for that. */
    void settle() {
        settled = true;
    }

    /** Of the records as they were sealed, obsolete ones included. */
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

    /** Whether a handle may contain the batch without waiting for the store. */
    boolean canTravelInline() {
        return records != null || inlinePosition != null;
    }

    /**
     * Whether a handle can contain the batch now.
     *
     * @param omitted whether in the handle itself, and not in its segment
     */
    boolean hasPosition(boolean omitted) {
        return (omitted ? inlinePosition : position) != null;
    }

    @Override
    public BatchPosition position() {
        return position(false);
    }

    /**
     * Where a handle finds it.
     *
     * @param omitted whether in the handle itself, and not in its segment
     */
    BatchPosition position(boolean omitted) {
        BatchPosition found = omitted ? inlinePosition : position;
        if (found == null) {
            throw new IllegalStateException(
                    this + " is not " + (omitted ? "encoded" : "durable") + " yet");
        }
        return found;
    }

    /** A persist will have it inline. */
    void omit() {
        omissions++;
    }

    /** Such a persist has ended. */
    void omissionEnded() {
        omissions--;
        dropInline();
    }

    /** The encoded bytes are kept for handles to come, or for those that were promised them. */
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

    /** Whether the records still have to be encoded for a handle, and nobody does it. */
    boolean needsEncoding() {
        return inlinePosition == null && !encoding;
    }

    /** The records, to be encoded and then released by the caller. */
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

    /** Returns whether nobody needs the batch any more. */
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

    /** The local copy of its segment that a checkpoint may refer to, if there is one. */
    @Nullable
    LocalCopy copyInCheckpoints() {
        return handedOver && position != null ? position.localCopy() : null;
    }

    /** Returns whether no checkpoint was given the segment for this batch before. */
    boolean handOver() {
        boolean first = !handedOver;
        handedOver = true;
        return first;
    }

    @Override
    public String toString() {
        return "batches [" + sequence + ", " + end + ")";
    }
}
