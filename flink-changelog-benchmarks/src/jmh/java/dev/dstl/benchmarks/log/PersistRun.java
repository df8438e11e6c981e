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

import dev.dstl.benchmarks.simulated.store.RequestCounts;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One round of persists on a store with a long tail: jobs of one task each, which append, persist
 * and wait, again and again. Time is counted from the call to the completion of its future.
 */
final class PersistRun {

    private static final int JOBS = 24;

    private final MeasuredLog log;
    private final int recordsPerPersist;
    private final int persistsPerJob;
    private final StoreProfile profile;

    PersistRun(MeasuredLog log, int bytesPerPersist, int persistsPerJob, StoreProfile profile) {
        this.log = log;
        this.recordsPerPersist = bytesPerPersist / RecordSource.RECORD_BYTES;
        this.persistsPerJob = persistsPerJob;
        this.profile = profile;
    }

    Latencies measure() throws Exception {
        ExecutorService jobs = Executors.newFixedThreadPool(JOBS);
        try {
            List<Future<Latencies>> running = new ArrayList<>();
            for (int job = 0; job < JOBS; job++) {
                // The jobs' stores have seeds of their own, the same for every log.
                long seed = profile.seed() * JOBS + job;
                running.add(jobs.submit(() -> runJob(seed)));
            }
            List<Latencies> finished = new ArrayList<>();
            for (Future<Latencies> job : running) {
                finished.add(job.get());
            }
            return Latencies.merge(finished);
        } finally {
            jobs.shutdownNow();
        }
    }

    private Latencies runJob(long seed) throws Exception {
        StoreProfile own =
                StoreProfile.builder()
                        .seed(seed)
                        .latencyMillis(profile.p50Millis(), profile.p99Millis())
                        .tail(profile.tailFraction(), profile.tailMillis())
                        .build();
        long[] nanos = new long[persistsPerJob];
        try (LogStorage storage = new LogStorage(log, own);
                MeasuredTask task = storage.openTask(new TaskMailbox(), seed)) {
            RequestCounts before = storage.counts();
            for (int i = 0; i < persistsPerJob; i++) {
                task.append(recordsPerPersist);
                nanos[i] = task.complete(task.persist());
            }
            return new Latencies(nanos, storage.counts().minus(before).requests());
        }
    }

    /** The durations of many persists and the requests they caused. Immutable. */
    static final class Latencies {

        private final long[] sortedNanos;
        private final long requests;

        private Latencies(long[] nanos, long requests) {
            this.sortedNanos = nanos.clone();
            Arrays.sort(sortedNanos);
            this.requests = requests;
        }

        private static Latencies merge(List<Latencies> parts) {
            return new Latencies(
                    parts.stream().flatMapToLong(part -> Arrays.stream(part.sortedNanos)).toArray(),
                    parts.stream().mapToLong(part -> part.requests).sum());
        }

        double millis(double quantile) {
            int index = (int) Math.ceil(quantile * sortedNanos.length) - 1;
            return sortedNanos[index] / (double) TimeUnit.MILLISECONDS.toNanos(1);
        }

        double requestsPerPersist() {
            return requests / (double) sortedNanos.length;
        }
    }
}
