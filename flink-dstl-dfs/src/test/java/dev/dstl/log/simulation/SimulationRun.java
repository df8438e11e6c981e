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

package dev.dstl.log.simulation;

import dev.dstl.log.simulation.cluster.Mutant;
import dev.dstl.log.simulation.invariant.Leftover;
import dev.dstl.log.simulation.schedule.FiberThreads;
import dev.dstl.log.simulation.store.SimulatedStore;
import dev.dstl.log.simulation.world.Condition;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Runs many seeds in parallel; stops after some failures. */
final class SimulationRun {

    private static final int ENOUGH_FAILURES = Integer.getInteger("simulation.failures", 5);

    private final AtomicLong next;
    private final long end;
    private final List<SimulationResult> failures = new ArrayList<>();
    private final Map<Leftover, Long> leftovers = new EnumMap<>(Leftover.class);
    private final Map<Coverage, Long> coverage = new EnumMap<>(Coverage.class);
    private final Map<Condition, Long> conditions = new EnumMap<>(Condition.class);
    private long steps;
    private long seeds;

    private SimulationRun(long first, long count) {
        next = new AtomicLong(first);
        end = first + count;
    }

    /** Seeds {@code [first, first + count)}. */
    static SimulationRun of(long first, long count) throws Exception {
        SimulationRun run = new SimulationRun(first, count);
        int threads = Runtime.getRuntime().availableProcessors();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try (DefectLog defects = DefectLog.open()) {
            List<Future<?>> workers = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                workers.add(executor.submit(() -> run.work(defects)));
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
            throw new AssertionError("The simulation itself failed", e.getCause());
        }
    }

    private void work(DefectLog defects) {
        SimulatedStore.simulateHere();
        try (FiberThreads.Pool threads = new FiberThreads.Pool()) {
            for (long seed = next.getAndIncrement();
                    seed < end && !hasEnough();
                    seed = next.getAndIncrement()) {
                add(new Simulation(seed, Mutant.NONE, threads, defects, false).run());
            }
        }
    }

    /** Runs a single seed. */
    static SimulationResult single(long seed, Mutant mutant, boolean inWords) {
        SimulatedStore.simulateHere();
        try (DefectLog defects = DefectLog.open();
                FiberThreads.Pool threads = new FiberThreads.Pool()) {
            return new Simulation(seed, mutant, threads, defects, inWords).run();
        }
    }

    private synchronized boolean hasEnough() {
        return failures.size() >= ENOUGH_FAILURES;
    }

    private synchronized void add(SimulationResult result) {
        seeds++;
        steps += result.steps();
        if (result.isViolated()) {
            failures.add(result);
        }
        result.coverage().forEach((what, count) -> coverage.merge(what, count, Long::sum));
        result.conditions()
                .occurrences()
                .keySet()
                .forEach(condition -> conditions.merge(condition, 1L, Long::sum));
        result.leftovers()
                .forEach(
                        (reason, files) -> leftovers.merge(reason, (long) files.size(), Long::sum));
    }

    synchronized List<SimulationResult> failures() {
        return failures;
    }

    /** Number of occurrences of each event in all seeds. */
    synchronized Map<Coverage, Long> coverage() {
        return coverage;
    }

    /** Number of seeds in which each condition had an effect. */
    synchronized Map<Condition, Long> conditions() {
        return conditions;
    }

    /** Number of files left behind in all seeds, by reason. */
    synchronized Map<Leftover, Long> leftovers() {
        return leftovers;
    }

    @Override
    public synchronized String toString() {
        return seeds
                + " seeds, "
                + steps
                + " steps, "
                + coverage
                + ", seeds with "
                + conditions
                + ", files left: "
                + leftovers;
    }
}
