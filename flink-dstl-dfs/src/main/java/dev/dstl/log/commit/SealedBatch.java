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

package dev.dstl.log.commit;

import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.segment.SegmentEncoder;
import java.io.IOException;
import javax.annotation.Nullable;

/**
 * A batch that is to become part of a segment. Created by a writer, changed only by {@link
 * GroupCommit} under its lock.
 */
public final class SealedBatch {

    private final LogBatch batch;

    /** Volatile: the thread that encodes takes no lock. */
    private volatile BatchListener listener;

    private boolean entered;
    private long omittedBy;
    private long reservedBytes;
    private BatchState state = BatchState.SEALED;
    @Nullable private RolledSegment segment;

    /**
     * Creates a batch that waits for its segment.
     *
     * @param batch released once it is encoded or no longer needed
     * @param omittedBy the last checkpoint of the changelog before the batch was sealed
     */
    public SealedBatch(LogBatch batch, BatchListener listener, long omittedBy) {
        this.batch = batch;
        this.listener = listener;
        this.omittedBy = omittedBy;
        this.entered = true;
    }

    /**
     * Creates the output of a compaction, which no checkpoint names before {@link
     * GroupCommit#enter}.
     *
     * @param batch released once it is encoded or no longer needed
     * @param lastCheckpoint the last checkpoint of the changelog so far
     */
    public static SealedBatch output(LogBatch batch, BatchListener listener, long lastCheckpoint) {
        SealedBatch output = new SealedBatch(batch, listener, lastCheckpoint);
        output.entered = false;
        return output;
    }

    /** Returns whether checkpoints of its changelog after {@link #omittedBy} name it. */
    boolean hasEntered() {
        return entered;
    }

    /** Lets later checkpoints name the batch; always returns true. */
    boolean enter(long lastCheckpoint) {
        omittedBy = lastCheckpoint;
        entered = true;
        return true;
    }

    /**
     * Returns the last checkpoint of the changelog that does not name the segment of this batch.
     */
    long omittedBy() {
        return omittedBy;
    }

    void omitBy(long checkpointId) {
        omittedBy = Math.max(omittedBy, checkpointId);
    }

    LogBatch batch() {
        return batch;
    }

    /** Returns who is told what happens to the batch; none once it is durable or released. */
    BatchListener listener() {
        return listener;
    }

    long sizeBytes() {
        return batch.sizeBytes();
    }

    /**
     * Returns how many bytes a handle needs to contain the batch inline, before compression: with
     * few records, several times their size.
     */
    public long inlineBytes() {
        return batch.sizeBytes() + InlineSegment.OVERHEAD_BYTES;
    }

    /** Counts the batch as in flight, with all the memory that its segment will retain for it. */
    void reserve() {
        reservedBytes = batch.heldBytes() + SegmentEncoder.FRAME_OVERHEAD_BYTES;
    }

    /** Returns the bytes that count as in flight; 0 if the batch does not count. */
    long reservedBytes() {
        return reservedBytes;
    }

    BatchState state() {
        return state;
    }

    /**
     * Moves on to the next state. A listener holds the task and what its batch was made of, and all
     * batches of a segment stay reachable while one of them is needed. So it is dropped with the
     * last event.
     */
    void moveTo(BatchState next) {
        state = state.to(next);
        if (next == BatchState.DURABLE || next == BatchState.RELEASED) {
            listener = NoListener.INSTANCE;
        }
    }

    @Nullable
    RolledSegment segment() {
        return segment;
    }

    void rollInto(RolledSegment rolled) {
        moveTo(BatchState.IN_SEGMENT);
        segment = rolled;
    }

    /** Takes the place of a listener after its last event. */
    private enum NoListener implements BatchListener {
        INSTANCE;

        @Override
        public void durable(BatchPosition position) {}

        @Override
        public void suspended(IOException cause) {}
    }
}
