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
import dev.dstl.log.local.LocalCopy;
import java.io.IOException;
import java.util.List;
import javax.annotation.Nullable;

/**
 * A sealed batch as its log sees it. Guarded by the {@link LogTail} it belongs to.
 *
 * <p>A small batch keeps its records until it is durable, whatever the upload does with them, so
 * that they can be encoded once more for a handle; from then on it keeps the encoded bytes.
 */
final class TailBatch implements BatchListener {

    private final LogTail tail;
    private final long sequence;
    private final long end;
    private final int level;
    private final long sizeBytes;
    private final long memoryBytes;
    private final SealedBatch sealed;

    /** One for the tail, one for every persist under way that contains the batch. */
    private int references = 1;

    private boolean handedOut;
    private boolean encoding;
    private boolean settled;
    @Nullable private LogBatch records;
    @Nullable private BatchPosition inlinePosition;
    @Nullable private BatchPosition position;

    /**
     * @param keepRecords whether the batch may have to travel in a handle
     * @param lastCheckpoint of the log, before the batch
     */
    TailBatch(LogTail tail, LogBatch batch, boolean keepRecords, long lastCheckpoint) {
        this.tail = tail;
        this.sequence = batch.sequence();
        this.end = sequence + 1;
        this.level = 0;
        this.sizeBytes = batch.sizeBytes();
        this.memoryBytes = LogMerging.memoryBytes(batch.sizeBytes(), batch.recordCount());
        this.records = keepRecords ? batch.secondOwner() : null;
        this.sealed = new SealedBatch(batch, this, lastCheckpoint);
    }

    /**
     * A durable batch in the place of some.
     *
     * @param merged those, in order and without gaps
     * @param memoryBytes see {@link #memoryBytes()}
     */
    TailBatch(
            LogTail tail,
            List<TailBatch> merged,
            SealedBatch sealed,
            BatchPosition position,
            long memoryBytes) {
        TailBatch first = merged.get(0);
        this.tail = tail;
        this.sequence = first.sequence;
        this.end = merged.get(merged.size() - 1).end;
        this.level = first.level + 1;
        this.sizeBytes = merged.stream().mapToLong(TailBatch::sizeBytes).sum();
        this.memoryBytes = memoryBytes;
        this.sealed = sealed;
        this.position = position;
    }

    @Override
    public void durable(BatchPosition position) {
        tail.durable(this, position);
    }

    @Override
    public void parked(IOException cause) {
        tail.parked(this, cause);
    }

    long sequence() {
        return sequence;
    }

    /** One more than the last sequence number in it. */
    long end() {
        return end;
    }

    /** How often its records were merged. */
    int level() {
        return level;
    }

    /** Whether it may become part of a larger one. */
    boolean isMergeable() {
        return position != null && !settled;
    }

    /** It is too large for that. */
    void settle() {
        settled = true;
    }

    /** Of the records as they were sealed, those included that newer ones superseded since. */
    long sizeBytes() {
        return sizeBytes;
    }

    /** What it adds to the memory of a merge; about, if it was merged. */
    long memoryBytes() {
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

    /** Whether a handle can contain the batch now. */
    boolean hasPosition(boolean inlineWillDo) {
        return position != null || (inlineWillDo && inlinePosition != null);
    }

    /** The durable position, or the inline one as long as there is none. */
    BatchPosition position() {
        BatchPosition best = position != null ? position : inlinePosition;
        if (best == null) {
            throw new IllegalStateException("Batch " + sequence + " is neither durable nor inline");
        }
        return best;
    }

    void becameDurable(BatchPosition position) {
        this.position = position;
        inlinePosition = null;
        dropRecords();
    }

    /** Whether the records still have to be encoded for a handle, and nobody does it. */
    boolean needsEncoding() {
        return position == null && inlinePosition == null && !encoding;
    }

    /** The records, to be encoded and then released by the caller. */
    LogBatch startEncoding() {
        encoding = true;
        return records.secondOwner();
    }

    void becameInline(BatchPosition position) {
        encoding = false;
        inlinePosition = position;
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
        return handedOut && position != null ? position.localCopy() : null;
    }

    /** Returns whether no checkpoint was given the segment for this batch before. */
    boolean handOut() {
        boolean first = !handedOut;
        handedOut = true;
        return first;
    }
}
