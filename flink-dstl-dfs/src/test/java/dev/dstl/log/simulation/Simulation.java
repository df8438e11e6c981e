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

import dev.dstl.log.simulation.cluster.Cluster;
import dev.dstl.log.simulation.cluster.Mutant;
import dev.dstl.log.simulation.cluster.SimulatedJob;
import dev.dstl.log.simulation.cluster.SimulatedJobManager;
import dev.dstl.log.simulation.cluster.SimulatedLog;
import dev.dstl.log.simulation.invariant.NothingUnreferencedLeftAfterQuiescence;
import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.FiberThreads;
import dev.dstl.log.simulation.schedule.Schedule;
import dev.dstl.log.simulation.schedule.Trace;
import dev.dstl.log.simulation.world.Condition;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Simulates one seed, from the first task to the last file: jobs run with faults for a while,
 * continue without faults until they are stable, and end. The result depends on the seed only.
 */
final class Simulation {

    /** Longer than finite hangs, retries and deletions take. */
    private static final long SETTLE_MILLIS = 150_000;

    /** Time after the last fault until checkpoint durations are normal again, without a backlog. */
    private static final long RECOVERY_MILLIS = 45_000;

    /**
     * The same where the retry policy allows no attempt beside one that hangs: the changelog gives
     * that up after 60 s and the 5 s that a slow link would need for all bytes, and uploads the
     * segment after the pause of 10 s at most.
     */
    private static final long RECOVERY_WITHOUT_SECOND_ATTEMPTS_MILLIS = 80_000;

    /** Time for which the load continues after that. */
    private static final long OBSERVED_MILLIS = 20_000;

    /** Duration of an occasional pause without writes before the next checkpoint. */
    private static final long QUIET_MILLIS = 90_000;

    /**
     * More than a changelog can make of the batches of one run, with two of them to a compaction.
     */
    private static final int MAX_COMPACTIONS = 200;

    /** Many times the steps of any seed. More indicates an endless loop. */
    private static final long MAX_STEPS = 100_000;

    /** Longest checkpoint duration after all faults have ended. */
    private static final long PATIENCE_MILLIS = 300_000;

    private final long seed;
    private final Mutant mutant;
    private final DefectLog defects;
    private final Dice dice;
    private final Trace trace;
    private final Schedule schedule;
    private final Cluster cluster;
    private final Watchers watchers;
    private final NothingUnreferencedLeftAfterQuiescence leftovers =
            new NothingUnreferencedLeftAfterQuiescence();
    private long steps;

    Simulation(
            long seed,
            Mutant mutant,
            FiberThreads.Pool threads,
            DefectLog defects,
            boolean inWords) {
        this.seed = seed;
        this.mutant = mutant;
        this.defects = defects;
        dice = new Dice(seed);
        trace = new Trace(inWords);
        schedule = new Schedule(dice, trace);
        watchers = new Watchers(leftovers);
        cluster = new Cluster(dice, schedule, threads, mutant, watchers);
        watchers.watch(cluster);
    }

    /** Runs to the end, or to the first violation. */
    SimulationResult run() {
        defects.watch(watchers);
        try {
            cluster.start();
            long busySteps = busySteps();
            runUntil(() -> steps >= busySteps, Long.MAX_VALUE);
            cluster.faultsEnd();
            keepWorking();
            cluster.calmDown();
            if (dice.percent(30)) {
                runFor(QUIET_MILLIS);
            }
            settle();
            watchers.settled();
            cluster.endJobs();
            runFor(SETTLE_MILLIS);
            watchers.ended();
        } catch (Violated over) {
            schedule.note("simulation", "ends early");
        } catch (Throwable failure) {
            watchers.failed(failure);
        }
        Map<Coverage, Long> coverage = coverage();
        cluster.vanish();
        defects.watch(null);
        return new SimulationResult(
                seed,
                mutant,
                trace,
                steps,
                schedule.nowMillis(),
                watchers,
                coverage,
                cluster.conditions(),
                leftovers.leftovers());
    }

    /** Number of steps under load: processes read only once they have written enough to compact. */
    private long busySteps() {
        boolean reads =
                cluster.conditions().has(Condition.FAILING_READS)
                        || cluster.conditions().has(Condition.ETERNAL_READS);
        return reads ? dice.oneOf(1_000L, 2_000L) : dice.oneOf(300L, 600L, 2_000L);
    }

    private Map<Coverage, Long> coverage() {
        Map<Coverage, Long> counts = new EnumMap<>(Coverage.class);
        counts.put(Coverage.COMPLETED_CHECKPOINTS, watchers.completedCheckpoints());
        counts.put(Coverage.RESTORED_TASKS, cluster.restoredTasks());
        for (SimulatedLog log : cluster.logs()) {
            counts.merge(Coverage.LOGS, 1L, Long::sum);
            counts.merge(Coverage.CRASHED_LOGS, log.isVanished() ? 1L : 0L, Long::sum);
            counts.merge(Coverage.INLINE_PERSISTS, log.inlinePersists(), Long::sum);
            counts.merge(Coverage.COMPACTIONS, log.compactions(), Long::sum);
            counts.merge(Coverage.HEDGE_WINS, log.hedgeWins(), Long::sum);
        }
        return counts;
    }

    /** Continues the load; results must soon be as before the faults. */
    private void keepWorking() throws Violated {
        if (cluster.conditions().has(Condition.STEADY_LOAD)) {
            cluster.conditions().occurred(Condition.STEADY_LOAD);
            runFor(recoveryMillis() + cluster.backlogMillis());
            watchers.recovered();
            runFor(OBSERVED_MILLIS);
            watchers.observed();
        }
    }

    private long recoveryMillis() {
        return cluster.allowsSecondAttempts()
                ? RECOVERY_MILLIS
                : RECOVERY_WITHOUT_SECOND_ATTEMPTS_MILLIS;
    }

    private void settle() throws Violated {
        if (!settles()) {
            watchers.never();
            throw new Violated();
        }
    }

    /**
     * What travelled inside a handle is in a segment some time later, for the next checkpoint, and
     * what a checkpoint has compacted is for the one after it.
     */
    private boolean settles() throws Violated {
        boolean completed = completesCheckpoints();
        int rounds = 0;
        do {
            runFor(SETTLE_MILLIS);
            completed &= completesCheckpoint();
            runFor(SETTLE_MILLIS);
        } while (completed && isCompacting() && rounds++ < MAX_COMPACTIONS);
        return completed;
    }

    private boolean isCompacting() {
        for (SimulatedLog log : cluster.logs()) {
            if (!log.isClosed() && !log.isVanished() && log.ownedSegments() > 0) {
                return true;
            }
        }
        return false;
    }

    /** Completes checkpoints until everything older is subsumed and truncated. */
    private boolean completesCheckpoints() throws Violated {
        for (int i = 0; i <= SimulatedJobManager.MAX_RETAINED; i++) {
            if (!completesCheckpoint()) {
                return false;
            }
        }
        return true;
    }

    /** Completes a checkpoint of every job. */
    private boolean completesCheckpoint() throws Violated {
        for (SimulatedJob job : cluster.jobs()) {
            if (!completesCheckpoint(job)) {
                return false;
            }
        }
        return true;
    }

    private boolean completesCheckpoint(SimulatedJob job) throws Violated {
        long deadline = schedule.nowMillis() + PATIENCE_MILLIS;
        long before = job.jobManager().newestCompletedId();
        while (job.jobManager().newestCompletedId() == before && schedule.nowMillis() < deadline) {
            runUntil(() -> job.jobManager().isIdle(), deadline);
            job.jobManager().trigger();
            runUntil(
                    () ->
                            job.jobManager().isIdle()
                                    || job.jobManager().newestCompletedId() > before,
                    deadline);
        }
        return job.jobManager().newestCompletedId() > before;
    }

    private void runFor(long millis) throws Violated {
        runUntil(() -> false, schedule.nowMillis() + millis);
    }

    private void runUntil(BooleanSupplier reached, long deadlineMillis) throws Violated {
        while (!reached.getAsBoolean() && schedule.nowMillis() < deadlineMillis) {
            if (!schedule.step()) {
                return;
            }
            steps++;
            watchers.afterStep();
            if (steps == MAX_STEPS) {
                watchers.never();
            }
            if (watchers.hasViolation()) {
                throw new Violated();
            }
        }
    }

    /** Ends a simulation whose violation is already noted. */
    private static final class Violated extends Exception {
        private static final long serialVersionUID = 1L;

        private Violated() {
            super(null, null, false, false);
        }
    }
}
