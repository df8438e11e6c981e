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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.config.RetryMode;
import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.FiberThreads;
import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.schedule.Schedule;
import dev.dstl.log.simulation.schedule.ThreadStarts;
import dev.dstl.log.simulation.store.SimulatedStore;
import dev.dstl.log.simulation.store.StoreWatcher;
import dev.dstl.log.simulation.world.Condition;
import dev.dstl.log.simulation.world.Conditions;
import dev.dstl.log.simulation.world.FaultyThreadStarts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.JobID;

/** All simulated processes, jobs and stores of one simulation. */
public final class Cluster {

    /** Key groups of the job, [0, MAX_PARALLELISM). */
    static final int MAX_PARALLELISM = 8;

    /** Chance of a failed task between two looks of the chaos, where there are local copies. */
    private static final int FAILING_TASK_PERCENT = 25;

    private static final int MAX_TASK_MANAGERS = 3;
    private static final long CHAOS_INTERVAL_MILLIS = 4_000;

    /** Maximum delay of a ready event after all faults have ended. */
    private static final long MAX_FAIR_LATENESS_MILLIS = 20;

    static final int MAX_TASKS_OF_JOB = 3;

    /** Approximate changelog rate of a task under normal input. */
    private static final long STEADY_BYTES_PER_SECOND = 1_200;

    private final Dice dice;
    private final Schedule schedule;
    private final FiberThreads.Pool threads;
    private final Mutant mutant;
    private final ClusterWatcher watcher;
    private final Conditions conditions;
    private final SimulatedStore store;
    private final ThreadStarts threadStarts;
    private final List<SimulatedJob> jobs = new ArrayList<>();
    private final List<SimulatedHost> hosts = new ArrayList<>();
    private final Lane chaosLane;
    private final List<SimulatedTaskManager> taskManagers = new ArrayList<>();
    private final List<SimulatedLog> logs = new ArrayList<>();
    private final Map<String, FileHistory> histories = new TreeMap<>();
    private final int chaosPercent;
    private final int newTaskManagerPercent;
    private final Map<String, SimulatedLog> writers = new TreeMap<>();
    private int taskManagerCount;
    private long restoredTasks;
    private long fairSinceMillis = Long.MAX_VALUE;
    private long calmSinceMillis = Long.MAX_VALUE;

    public Cluster(
            Dice dice,
            Schedule schedule,
            FiberThreads.Pool threads,
            Mutant mutant,
            ClusterWatcher watcher) {
        this.dice = dice;
        this.schedule = schedule;
        this.threads = threads;
        this.mutant = mutant;
        this.watcher = watcher;
        this.conditions = new Conditions(dice);
        this.store = new SimulatedStore(dice, schedule, conditions, new HistoryWriter());
        this.threadStarts = new FaultyThreadStarts(dice, schedule, conditions, this::isFair);
        this.chaosLane = schedule.lane("chaos");
        this.chaosPercent = dice.oneOf(0, 20, 60);
        this.newTaskManagerPercent = conditions.has(Condition.OVERLAPPING_CHECKPOINTS) ? 5 : 30;
        int jobCount = conditions.has(Condition.SEVERAL_JOBS) ? 2 : 1;
        if (jobCount > 1) {
            conditions.occurred(Condition.SEVERAL_JOBS);
        }
        if (conditions.has(Condition.LONG_LOGS)) {
            conditions.occurred(Condition.LONG_LOGS);
        }
        for (int job = 1; job <= jobCount; job++) {
            jobs.add(new SimulatedJob(this, "job" + job, new JobID(dice.bits(), dice.bits())));
        }
        for (int host = dice.oneOf(1, 2); host > 0; host--) {
            hosts.add(new SimulatedHost());
        }
        schedule.note("cluster", "has conditions " + conditions);
    }

    /** Starts all jobs without state. */
    public void start() {
        store.start();
        jobs.forEach(job -> job.jobManager().start());
        chaosLane.addIn(CHAOS_INTERVAL_MILLIS, "chaos", this::chaos);
    }

    private void chaos() {
        if (isFair()) {
            return;
        }
        if (conditions.has(Condition.DAMAGED_DISKS)
                && dice.percent(30)
                && dice.oneOf(hosts).damage(dice)) {
            conditions.occurred(Condition.DAMAGED_DISKS);
        }
        if (mutant == Mutant.LOCAL_COPIES_LOST) {
            hosts.forEach(SimulatedHost::loseCopies);
        }
        if (conditions.has(Condition.LOCAL_COPIES) && dice.percent(30)) {
            dice.oneOf(jobs).jobManager().leaveIdleProcesses();
        }
        if (conditions.has(Condition.LOCAL_COPIES) && dice.percent(FAILING_TASK_PERCENT)) {
            // Otherwise hardly a task would restart where its copies are.
            dice.oneOf(jobs).jobManager().failTask();
        }
        if (dice.percent(chaosPercent)) {
            SimulatedJobManager jobManager = dice.oneOf(jobs).jobManager();
            switch (dice.below(6)) {
                case 0:
                case 1:
                    crashTaskManager();
                    break;
                case 2:
                    jobManager.failTask();
                    break;
                case 3:
                    dice.oneOf(jobs).replaceJobManager();
                    break;
                case 4:
                    jobManager.restart("rescale");
                    break;
                default:
                    jobManager.expireOldest();
            }
        }
        chaosLane.addIn(dice.skewed(CHAOS_INTERVAL_MILLIS), "chaos", this::chaos);
    }

    private void crashTaskManager() {
        if (taskManagers.isEmpty()) {
            return;
        }
        SimulatedTaskManager lost = dice.oneOf(taskManagers);
        taskManagers.remove(lost);
        lost.crash();
        jobs.forEach(job -> job.jobManager().lost(lost));
    }

    /** Returns a process that runs a task. */
    SimulatedTaskManager taskManager() {
        if (taskManagers.size() < MAX_TASK_MANAGERS
                && (taskManagers.isEmpty() || dice.percent(newTaskManagerPercent))) {
            SimulatedTaskManager started =
                    new SimulatedTaskManager(this, "tm" + ++taskManagerCount, dice.oneOf(hosts));
            taskManagers.add(started);
            return started;
        }
        return dice.oneOf(taskManagers);
    }

    List<SimulatedTaskManager> taskManagers() {
        return taskManagers;
    }

    /** Ends all faults; hangs that have begun may continue. */
    public void faultsEnd() {
        fairSinceMillis = schedule.nowMillis();
        store.weather().turnsFair();
        schedule.limitLateness(MAX_FAIR_LATENESS_MILLIS);
        if (store.link() != null) {
            long tasks = (long) MAX_TASKS_OF_JOB * jobs.size();
            store.link().widenTo(dice.oneOf(2, 3, 4) * tasks * STEADY_BYTES_PER_SECOND);
        }
        schedule.note("cluster", "has no more faults");
    }

    /** Stops the input of all tasks. */
    public void calmDown() {
        calmSinceMillis = schedule.nowMillis();
        schedule.note("cluster", "calms down");
    }

    /** Whether all faults have ended. */
    public boolean isFair() {
        return fairSinceMillis != Long.MAX_VALUE;
    }

    boolean isCalm() {
        return calmSinceMillis != Long.MAX_VALUE;
    }

    /** Time since the last write. */
    public long calmMillis() {
        return isCalm() ? schedule.nowMillis() - calmSinceMillis : 0;
    }

    /** Time since all faults ended. */
    public long fairMillis() {
        return isFair() ? schedule.nowMillis() - fairSinceMillis : 0;
    }

    /** Time to send the whole backlog twice. */
    public long backlogMillis() {
        long bytes = logs.stream().mapToLong(SimulatedLog::reservedBytes).sum();
        return store.link() == null ? 0 : 2 * store.link().aloneMillis(bytes);
    }

    /** Whether every running changelog may start another attempt while one hangs. */
    public boolean allowsSecondAttempts() {
        return logs.stream()
                .filter(log -> !log.isClosed() && !log.isVanished())
                .allMatch(log -> log.settings().retryMode() != RetryMode.NONE);
    }

    /** Conditions of the seed. */
    public Conditions conditions() {
        return conditions;
    }

    ThreadStarts threadStarts() {
        return threadStarts;
    }

    /** Ends all jobs with their tasks, changelogs and checkpoints. */
    public void endJobs() {
        jobs.forEach(job -> job.jobManager().endJob());
    }

    public List<SimulatedJob> jobs() {
        return jobs;
    }

    /** The checkpoints that a job could be restored from. */
    public List<CompletedCheckpoint> retained() {
        List<CompletedCheckpoint> retained = new ArrayList<>();
        jobs.forEach(job -> job.jobManager().retained().forEach(retained::add));
        return retained;
    }

    /** Whether a pending checkpoint has been acknowledged with a file. */
    public boolean isPendingWith(String file) {
        return jobs.stream().anyMatch(job -> job.jobManager().isPendingWith(file));
    }

    public SimulatedStore store() {
        return store;
    }

    public Schedule schedule() {
        return schedule;
    }

    public Dice dice() {
        return dice;
    }

    FiberThreads.Pool threads() {
        return threads;
    }

    Mutant mutant() {
        return mutant;
    }

    ClusterWatcher watcher() {
        return watcher;
    }

    /** A persist succeeded with a handle to these files. */
    void handedOver(LogHandle part) {
        for (String file : part.files()) {
            histories.get(file).wasHandedOver();
            watcher.handedOver(file);
        }
    }

    void opened(SimulatedLog log) {
        logs.add(log);
        writers.put(log.incarnation(), log);
    }

    void restored() {
        restoredTasks++;
    }

    /** Number of tasks that restored state. */
    public long restoredTasks() {
        return restoredTasks;
    }

    /** All changelogs that were ever opened. */
    public List<SimulatedLog> logs() {
        return logs;
    }

    /** Maximum number of tasks that run at the same time. */
    public int maxTasks() {
        return MAX_TASKS_OF_JOB * jobs.size();
    }

    /** The changelog of an incarnation. */
    public SimulatedLog writer(String incarnation) {
        return writers.get(incarnation);
    }

    /** History of a file; null if it was never written. */
    public FileHistory history(String file) {
        return histories.get(file);
    }

    /** Number of files that a changelog has asked to delete so often. */
    public long deletedFiles(String incarnation, int tries) {
        return histories.values().stream()
                .filter(history -> history.writer().equals(incarnation))
                .filter(history -> history.deletions() >= tries)
                .count();
    }

    /** Releases all threads that still hang. */
    public void vanish() {
        logs.forEach(SimulatedLog::vanish);
        logs.forEach(SimulatedLog::forget);
        hosts.forEach(SimulatedHost::vanish);
    }

    private final class HistoryWriter implements StoreWatcher {

        @Override
        public void created(String file, String client) {
            histories
                    .computeIfAbsent(
                            file, name -> new FileHistory(client, writers.get(client).job()))
                    .created();
            watcher.created(file, client);
        }

        @Override
        public void sent(String file, String client, long bytes, boolean faultless) {
            watcher.sent(file, client, bytes, faultless);
        }

        @Override
        public void answered(String file, String client) {
            watcher.answered(file, client);
        }

        @Override
        public void stored(String file) {
            watcher.stored(file);
        }

        @Override
        public void deleteRequested(String file, String client, boolean existed, boolean done) {
            FileHistory history = histories.get(file);
            history.deleteRequested(client.equals(history.writer()), done);
            watcher.deleteRequested(file, client, existed, done);
        }
    }
}
