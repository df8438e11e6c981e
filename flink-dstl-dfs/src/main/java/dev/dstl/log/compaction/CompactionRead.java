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
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * Reads the records of one compaction into one batch. Another thread may abandon it at any time,
 * which frees the memory even if the reading thread hangs. Thread safe; {@link #read} is called
 * once.
 */
final class CompactionRead {

    private final ReadSession session;
    private final long maxMemoryBytes;

    /** Of the thread that reads, until that or who gives up takes it to free it. */
    private final AtomicReference<ActiveBatch> records;

    @Nullable private volatile Thread reading;

    /**
     * @param records empty; owned by this
     * @param maxMemoryBytes what the records may take
     */
    CompactionRead(ReadSession session, ActiveBatch records, long maxMemoryBytes) {
        this.session = session;
        this.records = new AtomicReference<>(records);
        this.maxMemoryBytes = maxMemoryBytes;
    }

    /**
     * Reads everything behind a handle; obsolete records are found when it is encoded.
     *
     * @param sequence of the batch
     * @return owned by the caller; null if the records take too much memory
     * @throws IOException also if this was given up
     */
    @Nullable
    LogBatch read(DstlHandleReader reader, ChangelogStateHandleStreamImpl handle, long sequence)
            throws IOException {
        reading = Thread.currentThread();
        ActiveBatch batch = records.get();
        try (RecordCursor cursor = reader.open(handle, session)) {
            if (batch == null || !copy(cursor, batch)) {
                return null;
            }
            if (!records.compareAndSet(batch, null)) {
                throw new InterruptedIOException("Reading was given up");
            }
            return batch.seal(sequence);
        } finally {
            reading = null;
            discard();
        }
    }

    private boolean copy(RecordCursor cursor, ActiveBatch batch) throws IOException {
        LogRecord record = new LogRecord();
        byte[] scratch = new byte[256];
        while (cursor.next(record)) {
            int length = record.keyLength() + record.payloadLength();
            if (length > scratch.length) {
                scratch = new byte[Math.max(length, 2 * scratch.length)];
            }
            System.arraycopy(record.buffer(), record.keyOffset(), scratch, 0, length);
            batch.append(
                    record.kind(),
                    record.keyGroup(),
                    record.stateId(),
                    scratch,
                    record.keyPrefixLength(),
                    record.keyLength(),
                    length);
            if (CompactionInput.memoryBytes(batch.sizeBytes(), batch.recordCount())
                    > maxMemoryBytes) {
                return false;
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
     * Gives up.
     *
     * @param timeoutNanos age from which a request counts as one that the store does not answer
     */
    void giveUp(long timeoutNanos) {
        Thread reader = reading;
        // A thread that waits for the store does not touch the batch again; any other frees it.
        if (session.giveUp(timeoutNanos).contains(reader)) {
            discard();
        }
    }

    /** How long the oldest request takes already that the store has not answered. */
    long oldestNanos() {
        return session.oldestNanos();
    }

    /** How long the slowest request took that the store answered. */
    long longestNanos() {
        return session.longestNanos();
    }

    /** What could not be read. */
    Set<StreamStateHandle> unreadable() {
        return session.unreadable();
    }

    boolean isGivenUp() {
        return session.isGivenUp();
    }

    /** Whether it was given up, and some thread still waits for the store. */
    boolean isHanging() {
        return session.isGivenUp() && !session.isIdle();
    }
}
