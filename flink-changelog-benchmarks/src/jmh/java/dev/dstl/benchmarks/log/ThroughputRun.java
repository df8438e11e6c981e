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

import com.sun.management.OperatingSystemMXBean;
import dev.dstl.benchmarks.simulated.store.RequestCounts;
import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One round in which all tasks of a TaskManager append as fast as the changelog storage accepts
 * records, with a checkpoint every 200 ms. Two threads run the tasks, as the machine has no more
 * cores; each waits while the storage is unavailable, as a task does. The round ends when the last
 * record is durable.
 */
final class ThroughputRun {

    private static final int THREADS = 2;
    private static final int RECORDS_PER_TURN = 100;
    private static final long CHECKPOINT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final double BYTES_PER_MEGABYTE = 1e6;

    private final LogStorage storage;
    private final long endNanos;

    private ThroughputRun(LogStorage storage, long endNanos) {
        this.storage = storage;
        this.endNanos = endNanos;
    }

    static void measure(MeasuredLog log, StoreProfile profile, int seconds, MeasureSink sink)
            throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (LogStorage storage = new LogStorage(log, profile)) {
            long startCpuNanos = cpuNanos();
            long start = System.nanoTime();
            ThroughputRun run =
                    new ThroughputRun(storage, start + TimeUnit.SECONDS.toNanos(seconds));
            List<Future<Long>> running = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int seed = thread;
                running.add(threads.submit(() -> run.drive(seed)));
            }
            double durableBytes = 0;
            for (Future<Long> thread : running) {
                durableBytes += thread.get();
            }
            double elapsed = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
            long usedCpuNanos = cpuNanos() - startCpuNanos;
            RequestCounts sent = storage.counts();
            sink.add(Measure.SHARED_THROUGHPUT, durableBytes / BYTES_PER_MEGABYTE / elapsed);
            sink.add(Measure.SHARED_AMPLIFICATION, sent.bytesWritten() / durableBytes);
            sink.add(Measure.SHARED_CPU, usedCpuNanos * RecordSource.RECORD_BYTES / durableBytes);
            sink.add(Measure.SHARED_PUTS, sent.requests(RequestType.PUT) / elapsed);
        } finally {
            threads.shutdownNow();
        }
    }

    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** Runs some of the tasks; returns the bytes of records made durable. */
    private long drive(int seed) throws Exception {
        TaskMailbox mailbox = new TaskMailbox();
        List<MeasuredTask> tasks = new ArrayList<>();
        for (int i = 0; i < SharedFlushRun.WRITERS / THREADS; i++) {
            tasks.add(storage.openTask(mailbox, (long) seed * SharedFlushRun.WRITERS + i));
        }
        long appendedBytes = 0;
        long nextCheckpointNanos = System.nanoTime() + CHECKPOINT_NANOS;
        Checkpoint checkpoint = null;
        while (System.nanoTime() < endNanos) {
            for (MeasuredTask task : tasks) {
                mailbox.await(storage.availableFuture());
                task.append(RECORDS_PER_TURN);
                appendedBytes += (long) RECORDS_PER_TURN * RecordSource.RECORD_BYTES;
            }
            while (mailbox.tryYield()) {
                continue;
            }
            if (checkpoint != null && checkpoint.isDone()) {
                checkpoint.complete();
                checkpoint = null;
            }
            if (checkpoint == null && System.nanoTime() >= nextCheckpointNanos) {
                checkpoint = new Checkpoint(tasks);
                nextCheckpointNanos = System.nanoTime() + CHECKPOINT_NANOS;
            }
        }
        if (checkpoint != null) {
            checkpoint.complete();
        }
        new Checkpoint(tasks).complete();
        tasks.forEach(MeasuredTask::close);
        return appendedBytes;
    }

    /** A checkpoint of all tasks of one thread. */
    private static final class Checkpoint {

        private final List<MeasuredTask> tasks;
        private final List<MeasuredTask.PendingPersist> pending = new ArrayList<>();

        private Checkpoint(List<MeasuredTask> tasks) throws Exception {
            this.tasks = tasks;
            for (MeasuredTask task : tasks) {
                pending.add(task.persist());
            }
        }

        private boolean isDone() {
            return pending.stream().allMatch(MeasuredTask.PendingPersist::isDone);
        }

        private void complete() throws Exception {
            for (int i = 0; i < tasks.size(); i++) {
                tasks.get(i).complete(pending.get(i));
            }
        }
    }
}
