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

    /** Persists. */
    private static final long FIRST_REST = 8;

    private static final int MAX_REST_DOUBLINGS = 4;

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

    /** Merges that failed because it could not be read. */
    private int failedMerges;

    /** The persist of the log from which it may be in a merge again. */
    private long restsUntil;

    /** The last one that did not get it. */
    @Nullable private MergeRead lastFailedRead;

    /** Persists under way that have it inline, whatever becomes of its segment. */
    private int omissions;

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

    /**
     * Whether it may become part of a larger one.
     *
     * @param persists of the log so far
     */
    boolean isMergeable(long persists) {
        return position != null
                && !settled
                && restsUntil <= persists
                && (lastFailedRead == null || !lastFailedRead.isHanging());
    }

    /**
     * It could not be read, and rests for a while that grows with each time; and for as long as a
     * thread still tries to read it.
     *
     * @param read that did not get it
     * @param persists of the log so far
     * @return how often it could not be read
     */
    int mergeFailed(@Nullable MergeRead read, long persists) {
        restsUntil = persists + (FIRST_REST << Math.min(failedMerges, MAX_REST_DOUBLINGS));
        lastFailedRead = read;
        return ++failedMerges;
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

    /**
     * Whether a handle can contain the batch now.
     *
     * @param omitted whether in the handle itself, and not in its segment
     */
    boolean hasPosition(boolean omitted) {
        return (omitted ? inlinePosition : position) != null;
    }

    /** Where it is durable. */
    BatchPosition position() {
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
        return handedOut && position != null ? position.localCopy() : null;
    }

    /** Returns whether no checkpoint was given the segment for this batch before. */
    boolean handOut() {
        boolean first = !handedOut;
        handedOut = true;
        return first;
    }

    @Override
    public String toString() {
        return "batches [" + sequence + ", " + end + ")";
    }
}
