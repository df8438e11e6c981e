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

package dev.dstl.log.batch;

import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The records of one sequence number. Immutable, so any thread may read it. Owns pages and returns
 * them exactly once, at the first call of {@link #release}. The pages may be shared with another
 * batch, see {@link #secondOwner}.
 */
public final class LogBatch {

    private final UUID logId;
    private final long sequence;
    private final KeyGroupRange keyGroupRange;
    private final int recordCount;
    private final long sizeBytes;
    private final long heldBytes;
    private final AtomicReference<SharedPages> pages;

    LogBatch(
            UUID logId,
            long sequence,
            KeyGroupRange keyGroupRange,
            int recordCount,
            SharedPages pages,
            long sizeBytes) {
        this.logId = logId;
        this.sequence = sequence;
        this.keyGroupRange = keyGroupRange;
        this.recordCount = recordCount;
        this.sizeBytes = sizeBytes;
        this.heldBytes = pages.heldBytes();
        this.pages = new AtomicReference<>(pages);
    }

    /** Returns the id of the writer incarnation that appended the records. */
    public UUID logId() {
        return logId;
    }

    /** Returns the sequence number of this batch. */
    public long sequence() {
        return sequence;
    }

    /** Returns the key groups of the writer's subtask. */
    public KeyGroupRange keyGroupRange() {
        return keyGroupRange;
    }

    /** Returns the number of records, at least one. */
    public int recordCount() {
        return recordCount;
    }

    /**
     * Returns the size of the records in bytes, including their length prefixes. The same before
     * and after release.
     */
    public long sizeBytes() {
        return sizeBytes;
    }

    /**
     * Returns the size in bytes of the pages that this batch retains until it is released. A {@link
     * #secondOwner()} retains the same pages.
     */
    public long heldBytes() {
        return heldBytes;
    }

    /**
     * Returns the records, one after the other in the layout of {@link PagedRecord}. Must not be
     * used after {@link #release}.
     *
     * @throws IllegalStateException if already released
     */
    public PagedBytes records() {
        return new PagedBytes(held().pages(), sizeBytes);
    }

    /**
     * Returns a batch with the same records that is released independently of this one. Must not be
     * called concurrently with {@link #release} of this batch.
     *
     * @throws IllegalStateException if already released
     */
    public LogBatch secondOwner() {
        return new LogBatch(
                logId, sequence, keyGroupRange, recordCount, held().retain(), sizeBytes);
    }

    private SharedPages held() {
        SharedPages held = pages.get();
        if (held == null) {
            throw new IllegalStateException(this + " is already released");
        }
        return held;
    }

    /** Returns the pages to their pool. Only the first call has an effect. */
    public void release() {
        SharedPages held = pages.getAndSet(null);
        if (held != null) {
            held.release();
        }
    }

    @Override
    public String toString() {
        return String.format(
                "batch %d of changelog %s (%d records, %d bytes)",
                sequence, logId, recordCount, sizeBytes);
    }
}
