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

import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.FiberThreads;
import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.schedule.Schedule;
import dev.dstl.log.simulation.store.SimulatedStore;
import dev.dstl.log.simulation.store.StoreWatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.JobID;

/** Everything that one simulation simulates. */
public final class Cluster {

    /** Key groups of the job, [0, MAX_PARALLELISM). */
    static final int MAX_PARALLELISM = 8;

    private static final int MAX_TASK_MANAGERS = 3;
    private static final long CHAOS_INTERVAL_MILLIS = 4_000;

    private final Dice dice;
    private final Schedule schedule;
    private final FiberThreads.Pool threads;
    private final Mutant mutant;
    private final ClusterWatcher watcher;
    private final SimulatedStore store;
    private final JobID jobId;
    private final Lane chaosLane;
    private final List<SimulatedTaskManager> taskManagers = new ArrayList<>();
    private final List<SimulatedLog> logs = new ArrayList<>();
    private final Map<String, FileHistory> histories = new TreeMap<>();
    private final int chaosPercent;
    private SimulatedJobManager jobManager;
    private int taskManagerCount;
    private long restoredTasks;
    private boolean calm;

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
        this.store = new SimulatedStore(dice, schedule, new HistoryWriter());
        this.jobId = new JobID(dice.bits(), dice.bits());
        this.chaosLane = schedule.lane("chaos");
        this.chaosPercent = dice.oneOf(0, 20, 60);
        this.jobManager = new SimulatedJobManager(this, 0);
    }

    /** Begins with an empty job. */
    public void start() {
        jobManager.start();
        chaosLane.addIn(CHAOS_INTERVAL_MILLIS, "chaos", this::chaos);
    }

    private void chaos() {
        if (calm) {
            return;
        }
        if (dice.percent(chaosPercent)) {
            switch (dice.below(6)) {
                case 0:
                case 1:
                    crashTaskManager();
                    break;
                case 2:
                    jobManager.failTask();
                    break;
                case 3:
                    replaceJobManager();
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
        jobManager.lost(lost);
    }

    private void replaceJobManager() {
        SimulatedJobManager old = jobManager;
        jobManager = new SimulatedJobManager(this, old.epoch() + 1);
        jobManager.takeOver(old);
    }

    /** A process to run a task. */
    SimulatedTaskManager taskManager() {
        if (taskManagers.size() < MAX_TASK_MANAGERS
                && (taskManagers.isEmpty() || dice.percent(30))) {
            SimulatedTaskManager started =
                    new SimulatedTaskManager(this, "tm" + ++taskManagerCount);
            taskManagers.add(started);
            return started;
        }
        return dice.oneOf(taskManagers);
    }

    List<SimulatedTaskManager> taskManagers() {
        return taskManagers;
    }

    /** Nothing breaks any more that is not broken, and nobody writes. */
    public void calmDown() {
        calm = true;
        store.weather().turnsFair();
        schedule.note("cluster", "calms down");
    }

    boolean isCalm() {
        return calm;
    }

    /** The job is over: all tasks, logs and checkpoints go. */
    public void endJob() {
        jobManager.endJob();
    }

    public SimulatedJobManager jobManager() {
        return jobManager;
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

    JobID jobId() {
        return jobId;
    }

    /** A persist succeeded with a handle to these files. */
    void handedOut(LogPart part) {
        for (String file : part.files()) {
            histories.get(file).wasHandedOut();
            watcher.handedOut(file);
        }
    }

    void opened(SimulatedLog log) {
        logs.add(log);
    }

    void restored() {
        restoredTasks++;
    }

    /** How many tasks began with state. */
    public long restoredTasks() {
        return restoredTasks;
    }

    /** Every log there ever was. */
    public List<SimulatedLog> logs() {
        return logs;
    }

    /** What happened to a file, or null if nobody ever wrote it. */
    public FileHistory history(String file) {
        return histories.get(file);
    }

    /** Lets go of the threads of everything that still hangs. */
    public void vanish() {
        logs.forEach(SimulatedLog::vanish);
    }

    private final class HistoryWriter implements StoreWatcher {

        @Override
        public void created(String file, String client) {
            histories.computeIfAbsent(file, name -> new FileHistory(client)).created();
            watcher.created(file, client);
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
