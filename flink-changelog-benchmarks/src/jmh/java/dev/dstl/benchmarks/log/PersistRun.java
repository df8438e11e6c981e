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
import dev.dstl.benchmarks.simulated.store.RequestType;
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
 * and wait, at most fifty times a second. A persist is measured from the call to the completion of
 * its future.
 */
final class PersistRun {

    private static final int JOBS = 24;

    /**
     * Between two persists of a job. Without it tails that wait for no request keep every core busy
     * with 24 tasks that never rest, and the time is that of the run queue.
     */
    private static final long PAUSE_MILLIS = 20;

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

    Persists measure() throws Exception {
        ExecutorService jobs = Executors.newFixedThreadPool(JOBS);
        try {
            List<Future<Persists>> running = new ArrayList<>();
            for (int job = 0; job < JOBS; job++) {
                // The jobs' stores have seeds of their own, the same for every log.
                long seed = profile.seed() * JOBS + job;
                running.add(jobs.submit(() -> runJob(seed)));
            }
            List<Persists> finished = new ArrayList<>();
            for (Future<Persists> job : running) {
                finished.add(job.get());
            }
            return Persists.merge(finished);
        } finally {
            jobs.shutdownNow();
        }
    }

    private Persists runJob(long seed) throws Exception {
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
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                task.append(recordsPerPersist);
                nanos[i] = task.complete(task.persist());
            }
            return new Persists(nanos, storage.counts().minus(before));
        }
    }

    /** Durations and requests of many persists. Immutable. */
    static final class Persists {

        private final long[] sortedNanos;
        private final RequestCounts requests;

        private Persists(long[] nanos, RequestCounts requests) {
            this.sortedNanos = nanos.clone();
            Arrays.sort(sortedNanos);
            this.requests = requests;
        }

        private static Persists merge(List<Persists> parts) {
            return new Persists(
                    parts.stream().flatMapToLong(part -> Arrays.stream(part.sortedNanos)).toArray(),
                    parts.stream()
                            .map(part -> part.requests)
                            .reduce(RequestCounts.none(), RequestCounts::plus));
        }

        double millis(double quantile) {
            int index = (int) Math.ceil(quantile * sortedNanos.length) - 1;
            return sortedNanos[index] / (double) TimeUnit.MILLISECONDS.toNanos(1);
        }

        double requestsPerPersist() {
            return requests.requests() / (double) sortedNanos.length;
        }

        /** Returns the percentage of PUTs for retries and hedged attempts. */
        double extraPutPercent() {
            double puts = requests.requests(RequestType.PUT);
            return (puts / sortedNanos.length - 1) * 100;
        }
    }
}
