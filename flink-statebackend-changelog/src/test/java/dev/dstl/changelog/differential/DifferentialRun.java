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

package dev.dstl.changelog.differential;

import dev.dstl.changelog.differential.history.History;
import dev.dstl.changelog.differential.world.Conditions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Runs many seeds in parallel; stops after some failures. */
final class DifferentialRun {

    private final AtomicLong next;
    private final long end;
    private final int enoughFailures;
    private final List<DifferentialResult> failures = new ArrayList<>();
    private final Map<Enum<?>, Long> coverage = Conditions.emptyCounts();
    private long seeds;

    private DifferentialRun(long first, long count, int enoughFailures) {
        this.next = new AtomicLong(first);
        this.end = first + count;
        this.enoughFailures = enoughFailures;
    }

    /** Seeds {@code [first, first + count)}. */
    static DifferentialRun of(long first, long count, int enoughFailures) throws Exception {
        DifferentialRun run = new DifferentialRun(first, count, enoughFailures);
        int threads = Runtime.getRuntime().availableProcessors();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                workers.add(executor.submit(run::work));
            }
            for (Future<?> worker : workers) {
                await(worker);
            }
        } finally {
            executor.shutdownNow();
        }
        return run;
    }

    private static void await(Future<?> worker) throws Exception {
        try {
            worker.get();
        } catch (ExecutionException e) {
            throw new AssertionError("The test itself failed", e.getCause());
        }
    }

    private Void work() throws Exception {
        for (long seed = next.getAndIncrement();
                seed < end && !hasEnough();
                seed = next.getAndIncrement()) {
            add(DifferentialResult.of(History.of(seed)));
        }
        return null;
    }

    private synchronized boolean hasEnough() {
        return failures.size() >= enoughFailures;
    }

    private synchronized void add(DifferentialResult result) {
        seeds++;
        if (result.isViolated()) {
            System.out.println(result);
            failures.add(result);
        }
        result.coverage().forEach((what, count) -> coverage.merge(what, count, Long::sum));
    }

    synchronized List<DifferentialResult> failures() {
        return failures;
    }

    /** Number of occurrences of each condition in all seeds. */
    synchronized Map<Enum<?>, Long> coverage() {
        return coverage;
    }

    @Override
    public synchronized String toString() {
        return seeds + " seeds, " + coverage;
    }
}
