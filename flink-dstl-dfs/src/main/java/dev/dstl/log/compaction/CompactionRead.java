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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.batch.ActiveBatch;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.segment.ReadSession;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * Reads the records of one compaction into one batch. Another thread may abandon the read at any
 * time, which frees the memory even if the reading thread hangs. Thread-safe; {@link #read} is
 * called once.
 */
final class CompactionRead {

    /** Growth of the records that is counted at a time. */
    private static final long COUNTED_BYTES = 64 << 10;

    private final ReadSession session;
    private final long maxMemoryBytes;
    private final LongConsumer whenGrown;

    /**
     * Taken by the reading thread when it is done, or by a thread that abandons the read to free
     * it.
     */
    private final AtomicReference<ActiveBatch> records;

    @Nullable private volatile Thread reading;

    /**
     * Creates a read that has not begun.
     *
     * @param records empty; owned by this object
     * @param maxMemoryBytes limit for the memory of the records
     * @param whenGrown receives the memory of the records now and then while they are read
     */
    CompactionRead(
            ReadSession session, ActiveBatch records, long maxMemoryBytes, LongConsumer whenGrown) {
        this.session = session;
        this.records = new AtomicReference<>(records);
        this.maxMemoryBytes = maxMemoryBytes;
        this.whenGrown = whenGrown;
    }

    /**
     * Reads all records of a handle. Obsolete records are dropped later, when the batch is encoded.
     *
     * @param sequence sequence number of the batch
     * @return owned by the caller; null if the records need more than the memory limit
     * @throws IOException if a segment cannot be read, or the read was abandoned
     */
    @Nullable
    LogBatch read(DstlHandleReader reader, ChangelogStateHandleStreamImpl handle, long sequence)
            throws IOException {
        reading = Thread.currentThread();
        ActiveBatch batch = records.get();
        try {
            if (batch == null || !copy(reader, handle, batch)) {
                return null;
            }
            if (!records.compareAndSet(batch, null)) {
                throw new InterruptedIOException("The read was abandoned");
            }
            return batch.seal(sequence);
        } finally {
            reading = null;
            discard();
        }
    }

    /** Ends once the cursor is closed: until then, abandoning the read has to free the records. */
    private boolean copy(
            DstlHandleReader reader, ChangelogStateHandleStreamImpl handle, ActiveBatch batch)
            throws IOException {
        try (RecordCursor cursor = reader.open(handle, session)) {
            return copy(cursor, batch);
        }
    }

    private boolean copy(RecordCursor cursor, ActiveBatch batch) throws IOException {
        LogRecord record = new LogRecord();
        long countedBytes = 0;
        while (cursor.next(record)) {
            batch.append(record);
            long memoryBytes = CompactionInput.memoryBytes(batch.sizeBytes(), batch.recordCount());
            if (memoryBytes > maxMemoryBytes) {
                return false;
            }
            if (memoryBytes - countedBytes >= COUNTED_BYTES) {
                countedBytes = memoryBytes;
                whenGrown.accept(memoryBytes);
            }
        }
        return true;
    }

    private void discard() {
        ActiveBatch batch = records.getAndSet(null);
        if (batch != null) {
            batch.discard();
        }
    }

    /**
     * Abandons the read.
     *
     * @param timeoutNanos age from which a pending request counts as unanswered
     */
    void giveUp(long timeoutNanos) {
        Thread reader = reading;
        // A thread that waits for the store does not touch the batch again; any other frees it.
        if (session.giveUp(timeoutNanos).contains(reader)) {
            discard();
        }
    }

    /** Returns the age in nanoseconds of the oldest pending request. */
    long oldestNanos() {
        return session.oldestNanos();
    }

    /** Returns the duration in nanoseconds of the slowest answered request. */
    long longestNanos() {
        return session.longestNanos();
    }

    /** Returns the segments that could not be read. */
    Set<StreamStateHandle> unreadable() {
        return session.unreadable();
    }

    boolean isGivenUp() {
        return session.isGivenUp();
    }

    /** Reports that the records are read, or cannot be. Streams may still be open. */
    void finish() {
        session.finish();
    }

    /** Interrupts threads that still close streams of a finished read. */
    void interruptClosing() {
        session.interruptClosing();
    }

    /** Returns whether the read has ended, but a thread still waits for the store. */
    boolean isHanging() {
        return session.isLingering();
    }
}
