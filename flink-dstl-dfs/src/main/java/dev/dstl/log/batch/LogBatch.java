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
 * The records of one sequence number. Immutable, so any thread may read it. Owns pages and gives
 * them back exactly once, at the first call of {@link #release}. Another batch may share the pages,
 * see {@link #secondOwner}.
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

    /** The identity of the writer incarnation that appended the records. */
    public UUID logId() {
        return logId;
    }

    /** The position of this batch in its log. */
    public long sequence() {
        return sequence;
    }

    /** The key groups of the writer's subtask. */
    public KeyGroupRange keyGroupRange() {
        return keyGroupRange;
    }

    /** How many records there are, at least one. */
    public int recordCount() {
        return recordCount;
    }

    /**
     * Bytes of the records in memory; what the batch weighs in a budget, before and after release.
     */
    public long sizeBytes() {
        return sizeBytes;
    }

    /**
     * Bytes of the pages that hold the records, until they are released. Every {@link
     * #secondOwner()} holds the same ones.
     */
    public long heldBytes() {
        return heldBytes;
    }

    /**
     * The records, one {@link PagedRecord} behind the other. Not to be used after {@link #release}.
     *
     * @throws IllegalStateException if already released
     */
    public PagedBytes records() {
        return new PagedBytes(held().pages(), sizeBytes);
    }

    /**
     * The same records once more, released independently of this batch. May not cross with a {@link
     * #release} of this batch.
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

    /** Gives the pages back. Every call but the first does nothing. */
    public void release() {
        SharedPages held = pages.getAndSet(null);
        if (held != null) {
            held.release();
        }
    }

    @Override
    public String toString() {
        return String.format(
                "batch %d of log %s (%d records, %d bytes)",
                sequence, logId, recordCount, sizeBytes);
    }
}
