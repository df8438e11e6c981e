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

package dev.dstl.benchmarks.log;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * One writer and its task: appends, persists at a barrier, confirms, and truncates when the
 * checkpoint is complete. Used by one thread.
 */
final class MeasuredTask implements AutoCloseable {

    private final RecordSource records;
    private final TaskMailbox mailbox;
    private final StateChangelogWriter<?> writer;
    private final LogAppender appender;
    private SequenceNumber persistedTo;
    private long checkpointId;

    MeasuredTask(
            RecordSource records,
            TaskMailbox mailbox,
            StateChangelogWriter<?> writer,
            LogAppender appender) {
        this.records = records;
        this.mailbox = mailbox;
        this.writer = writer;
        this.appender = appender;
        this.persistedTo = writer.initialSequenceNumber();
    }

    void append(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            byte[] record = records.next();
            appender.append(records.keyGroup(), record);
        }
    }

    /** Starts what a checkpoint starts: everything appended so far is to become durable. */
    PendingPersist persist() throws IOException {
        SequenceNumber from = persistedTo;
        long id = ++checkpointId;
        long startNanos = System.nanoTime();
        persistedTo = writer.nextSequenceNumber();
        return new PendingPersist(writer.persist(from, id), startNanos, from, persistedTo, id);
    }

    /**
     * Waits for it and then truncates the changelog, as after a confirmed checkpoint.
     *
     * @return nanoseconds from the call of persist until it was durable, on whatever thread
     */
    long complete(PendingPersist pending) throws Exception {
        mailbox.await(pending.durationNanos);
        long durationNanos = pending.durationNanos.get();
        writer.confirm(pending.from, pending.to, pending.checkpointId);
        writer.truncate(pending.to);
        return durationNanos;
    }

    @Override
    public void close() {
        writer.truncateAndClose(persistedTo);
    }

    /** A persist that was started. Immutable. */
    static final class PendingPersist {

        private final CompletableFuture<Long> durationNanos;
        private final SequenceNumber from;
        private final SequenceNumber to;
        private final long checkpointId;

        private PendingPersist(
                CompletableFuture<?> future,
                long startNanos,
                SequenceNumber from,
                SequenceNumber to,
                long checkpointId) {
            this.durationNanos = future.thenApply(handle -> System.nanoTime() - startNanos);
            this.from = from;
            this.to = to;
            this.checkpointId = checkpointId;
        }

        boolean isDone() {
            return durationNanos.isDone();
        }
    }
}
