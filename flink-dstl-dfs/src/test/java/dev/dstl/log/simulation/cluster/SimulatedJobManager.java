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
import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.schedule.LaneExecutor;
import dev.dstl.log.simulation.world.Condition;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;

/**
 * Coordinates checkpoints and restarts. Tracks shared state with Flink's own registry, in which
 * every acknowledgement is registered, however late.
 */
public final class SimulatedJobManager {

    /** Maximum number of retained checkpoints. */
    public static final int MAX_RETAINED = 3;

    private static final long MESSAGE_LIMIT_MILLIS = 200;
    private static final long CHECKPOINT_INTERVAL_MILLIS = 2_000;
    private static final long SHORT_INTERVAL_MILLIS = 600;
    private static final int MAX_CONCURRENT = 3;
    private static final int LATE_MESSAGE_PERCENT = 15;
    private static final long MAX_LATENESS_MILLIS = 20_000;
    private static final long PATIENCE_MILLIS = 600_000;
    private static final int IN_PLACE_PERCENT = 80;

    private final Cluster cluster;
    private final SimulatedJob job;
    private final Dice dice;
    private final int epoch;
    private final Lane lane;
    private final SharedStateRegistry registry;
    private final Deque<CompletedCheckpoint> retained = new ArrayDeque<>();
    private final Map<Long, PendingCheckpoint> pending = new TreeMap<>();
    private final List<SimulatedTask> tasks = new ArrayList<>();
    private final Set<SimulatedTask> ending = new LinkedHashSet<>();
    private final Set<SimulatedTask> starting = new LinkedHashSet<>();
    private final boolean overlapping;
    private final int maxRetained;
    private final int maxConcurrent;
    private final int lostMessagePercent;
    private final int slowBarrierPercent;
    private long nextCheckpointId = 1;
    private int attempt;
    private boolean restarting;

    /** Where the tasks of the latest attempt started, in their order. */
    private List<SimulatedTaskManager> places = List.of();

    private boolean over;

    SimulatedJobManager(Cluster cluster, SimulatedJob job, int epoch) {
        this.cluster = cluster;
        this.job = job;
        this.dice = cluster.dice();
        this.epoch = epoch;
        this.lane = cluster.schedule().lane(job + "-jm" + epoch);
        this.registry =
                new SharedStateRegistryImpl(
                        new LaneExecutor(
                                dice, List.of(cluster.schedule().lane(job + "-jm-discard"))));
        this.overlapping = cluster.conditions().has(Condition.OVERLAPPING_CHECKPOINTS);
        this.maxRetained = overlapping ? 1 : dice.oneOf(1, 1, 2, MAX_RETAINED);
        this.maxConcurrent = overlapping ? MAX_CONCURRENT : dice.oneOf(1, 2, MAX_CONCURRENT);
        this.lostMessagePercent = dice.oneOf(0, 0, 30);
        this.slowBarrierPercent = dice.oneOf(0, 5, 20);
    }

    int epoch() {
        return epoch;
    }

    void start() {
        restarting = true;
        lane.add("deploys", this::deploy);
        lane.addIn(CHECKPOINT_INTERVAL_MILLIS, "triggers", this::triggerNow);
    }

    /** Starts with the durable state of the previous JobManager. */
    void takeOver(SimulatedJobManager old) {
        old.lane.close();
        nextCheckpointId = old.nextCheckpointId;
        for (CompletedCheckpoint checkpoint : old.retained) {
            retained.add(checkpoint);
            checkpoint.snapshots().forEach(snapshot -> register(checkpoint.id(), snapshot));
        }
        cluster.schedule().note(lane.name(), "takes over");
        restarting = true;
        ending.addAll(old.tasks);
        ending.addAll(old.ending);
        ending.removeIf(SimulatedTask::isOver);
        for (SimulatedTask task : new ArrayList<>(ending)) {
            task.belongsTo(this);
            task.lane().addIn(latency(), "cancelled", task::end);
        }
        lane.addIn(CHECKPOINT_INTERVAL_MILLIS, "triggers", this::triggerNow);
        deployIfEnded();
    }

    /** Delivers a message later; it is lost if this JobManager has ended by then. */
    void send(String what, Runnable message) {
        lane.addIn(latency(), what, message);
    }

    /** The same for a message about a checkpoint, which may take much longer. */
    void sendLate(String what, Runnable message) {
        lane.addIn(latency() + lateness(), what, message);
    }

    private long latency() {
        return dice.skewed(MESSAGE_LIMIT_MILLIS);
    }

    private long lateness() {
        if (cluster.isFair()
                || !cluster.conditions().has(Condition.LATE_MESSAGES)
                || !dice.percent(LATE_MESSAGE_PERCENT)) {
            return 0;
        }
        cluster.conditions().occurred(Condition.LATE_MESSAGES);
        return dice.between(1, MAX_LATENESS_MILLIS);
    }

    /** Delay of a barrier: some wait behind records while other tasks already see the next ones. */
    private long barrierMillis() {
        return !cluster.isFair() && dice.percent(slowBarrierPercent)
                ? dice.between(1, 8_000)
                : latency();
    }

    private void triggerNow() {
        if (!cluster.isCalm()) {
            if (pending.size() < maxConcurrent) {
                trigger();
            }
            long pause =
                    cluster.isFair()
                            ? CHECKPOINT_INTERVAL_MILLIS
                            : dice.skewed(
                                    overlapping
                                            ? SHORT_INTERVAL_MILLIS
                                            : CHECKPOINT_INTERVAL_MILLIS);
            lane.addIn(pause, "triggers", this::triggerNow);
        }
    }

    /** Starts a checkpoint, if the job runs. */
    public void trigger() {
        if (restarting || over || !starting.isEmpty()) {
            return;
        }
        long id = nextCheckpointId++;
        if (overlapping && !pending.isEmpty()) {
            cluster.conditions().occurred(Condition.OVERLAPPING_CHECKPOINTS);
        }
        pending.put(id, new PendingCheckpoint(tasks, cluster.schedule().nowMillis()));
        for (SimulatedTask task : tasks) {
            task.lane().addIn(barrierMillis(), "barrier " + id, () -> task.snapshot(id));
        }
        long patience = cluster.isFair() ? PATIENCE_MILLIS : dice.between(5_000, 60_000);
        lane.addIn(patience, "expires " + id, () -> abort(id, "expired"));
    }

    void acknowledged(long id, SimulatedTask task, TaskSnapshot snapshot) {
        register(id, snapshot);
        PendingCheckpoint checkpoint = pending.get(id);
        if (checkpoint != null && checkpoint.acknowledge(task, snapshot)) {
            pending.remove(id);
            complete(
                    new CompletedCheckpoint(
                            job,
                            id,
                            checkpoint.triggeredMillis,
                            cluster.schedule().nowMillis(),
                            checkpoint.snapshots.values()));
        }
    }

    private void register(long id, TaskSnapshot snapshot) {
        for (LogHandle part : snapshot.log()) {
            part.handle().registerSharedStates(registry, id);
            part.files().forEach(file -> cluster.history(file).received(epoch));
        }
    }

    private void complete(CompletedCheckpoint checkpoint) {
        long id = checkpoint.id();
        cluster.schedule().note(lane.name(), "completes " + id);
        for (Long older : new ArrayList<>(pending.keySet())) {
            if (older < id) {
                abort(older, "subsumed");
            }
        }
        retained.addLast(checkpoint);
        long subsumed = -1;
        while (retained.size() > maxRetained) {
            subsumed = retained.removeFirst().id();
        }
        registry.unregisterUnusedState(retained.getFirst().id());
        cluster.watcher().completed(checkpoint);
        long subsumedId = subsumed;
        notifyTasks("confirmed " + id, task -> task.confirmed(id));
        notifyTasks("subsumed " + subsumedId, task -> task.subsumed(subsumedId));
    }

    private void notifyTasks(String what, Consumer<SimulatedTask> message) {
        for (SimulatedTask task : tasks) {
            if (cluster.isFair() || !dice.percent(lostMessagePercent)) {
                task.lane().addIn(latency() + lateness(), what, () -> message.accept(task));
            }
        }
    }

    void declined(long id) {
        abort(id, "declined");
    }

    private void abort(long id, String why) {
        if (pending.remove(id) != null) {
            cluster.schedule().note(lane.name(), "gives " + id + " up: " + why);
            notifyTasks("aborted " + id, task -> task.aborted(id));
        }
    }

    void expireOldest() {
        pending.keySet().stream()
                .findFirst()
                .ifPresent(id -> lane.add("expires", () -> abort(id, "expired")));
    }

    void failTask() {
        if (!tasks.isEmpty()) {
            SimulatedTask task = dice.oneOf(tasks);
            task.lane().add("fails", task::fail);
        }
    }

    void failed(SimulatedTask task) {
        if (tasks.contains(task)) {
            restart("task failed");
        }
    }

    void running(SimulatedTask task) {
        starting.remove(task);
    }

    /** Notices the loss of a process after some time. */
    void lost(SimulatedTaskManager taskManager) {
        for (SimulatedTask task : tasks) {
            if (task.taskManager() == taskManager) {
                task.vanish();
            }
        }
        for (SimulatedTask task : new ArrayList<>(ending)) {
            if (task.taskManager() == taskManager) {
                task.vanish();
                ended(task);
            }
        }
        send("lost " + taskManager.name(), () -> restartIfAffected(taskManager));
    }

    private void restartIfAffected(SimulatedTaskManager lost) {
        if (tasks.stream().anyMatch(task -> task.taskManager() == lost)) {
            restart("lost " + lost.name());
        }
    }

    void restart(String why) {
        if (restarting || over) {
            return;
        }
        cluster.schedule().note(lane.name(), "restarts: " + why);
        restarting = true;
        cancelAll();
        deployIfEnded();
    }

    private void cancelAll() {
        for (Long id : new ArrayList<>(pending.keySet())) {
            abort(id, "failover");
        }
        List<SimulatedTask> cancelled = new ArrayList<>(tasks);
        tasks.clear();
        starting.clear();
        for (SimulatedTask task : cancelled) {
            if (task.isOver()) {
                continue;
            }
            ending.add(task);
            task.lane().addIn(latency(), "cancelled", task::end);
        }
    }

    void ended(SimulatedTask task) {
        if (ending.remove(task)) {
            deployIfEnded();
        }
    }

    private void deployIfEnded() {
        if (restarting && ending.isEmpty()) {
            lane.addIn(dice.between(1, 2_000), "deploys", this::deploy);
        }
    }

    private void deploy() {
        if (over) {
            return;
        }
        boolean inPlace =
                !places.isEmpty()
                        && cluster.conditions().has(Condition.LOCAL_COPIES)
                        && dice.percent(IN_PLACE_PERCENT);
        if (!inPlace) {
            releaseSomeLogs();
        }
        restarting = false;
        attempt++;
        int parallelism =
                inPlace
                        ? places.size()
                        : 1 + dice.below(overlapping ? 2 : Cluster.MAX_TASKS_OF_JOB);
        List<TaskSnapshot> snapshots =
                retained.isEmpty() ? List.of() : retained.getLast().snapshots();
        long restored = retained.isEmpty() ? 0 : retained.getLast().id();
        cluster.schedule().note(lane.name(), "deploys " + parallelism + " from " + retained.size());
        for (int index = 0; index < parallelism; index++) {
            KeyGroupRange keyGroups =
                    KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                            Cluster.MAX_PARALLELISM, parallelism, index);
            SimulatedTask task =
                    new SimulatedTask(
                            cluster,
                            this,
                            job,
                            inPlace && places.get(index).isAlive()
                                    ? places.get(index)
                                    : cluster.taskManager(),
                            keyGroups,
                            job + "-task" + epoch + "." + attempt + "." + index);
            tasks.add(task);
            starting.add(task);
            task.lane().addIn(latency(), "starts", () -> task.start(snapshots, restored));
        }
        places = tasks.stream().map(SimulatedTask::taskManager).collect(Collectors.toList());
    }

    /** Releases the job on some processes, as when slots were released meanwhile. */
    private void releaseSomeLogs() {
        for (SimulatedTaskManager taskManager : cluster.taskManagers()) {
            if (dice.percent(30)) {
                taskManager.release(job);
            }
        }
    }

    /**
     * Releases the resources of processes without a task of the job, unless it is about to restart.
     */
    void leaveIdleProcesses() {
        if (restarting) {
            // Flink keeps the slots meanwhile.
            return;
        }
        for (SimulatedTaskManager taskManager : cluster.taskManagers()) {
            boolean idle =
                    tasks.stream().noneMatch(task -> task.taskManager() == taskManager)
                            && ending.stream().noneMatch(task -> task.taskManager() == taskManager);
            if (idle) {
                taskManager.release(job);
            }
        }
    }

    void endJob() {
        over = true;
        restarting = false;
        cancelAll();
        lane.addIn(10_000, "job is over", this::jobIsOver);
    }

    private void jobIsOver() {
        if (!ending.isEmpty()) {
            lane.addIn(10_000, "job is over", this::jobIsOver);
            return;
        }
        cluster.taskManagers().forEach(taskManager -> taskManager.release(job));
        retained.clear();
        registry.unregisterUnusedState(Long.MAX_VALUE);
    }

    /** Whether all tasks run and no checkpoint is pending. */
    public boolean isIdle() {
        return !restarting && starting.isEmpty() && pending.isEmpty();
    }

    /** The checkpoints that the job could be restored from, oldest first. */
    public Iterable<CompletedCheckpoint> retained() {
        return retained;
    }

    public long newestCompletedId() {
        return retained.isEmpty() ? 0 : retained.getLast().id();
    }

    /** Age of the oldest pending checkpoint; 0 if there is none. */
    public long oldestPendingMillis() {
        return pending.values().stream()
                .mapToLong(
                        checkpoint -> cluster.schedule().nowMillis() - checkpoint.triggeredMillis)
                .max()
                .orElse(0);
    }

    /** Running and starting tasks. */
    List<SimulatedTask> tasks() {
        return tasks;
    }

    /** Whether a pending checkpoint has been acknowledged with a file. */
    public boolean isPendingWith(String file) {
        for (PendingCheckpoint checkpoint : pending.values()) {
            for (TaskSnapshot snapshot : checkpoint.snapshots.values()) {
                if (snapshot.log().stream().anyMatch(part -> part.files().contains(file))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static final class PendingCheckpoint {
        private final Set<SimulatedTask> missing;
        private final Map<SimulatedTask, TaskSnapshot> snapshots = new LinkedHashMap<>();
        private final long triggeredMillis;

        private PendingCheckpoint(List<SimulatedTask> tasks, long nowMillis) {
            triggeredMillis = nowMillis;
            missing = new LinkedHashSet<>(tasks);
        }

        /** Returns whether this was the last acknowledgement. */
        private boolean acknowledge(SimulatedTask task, TaskSnapshot snapshot) {
            if (missing.remove(task)) {
                snapshots.put(task, snapshot);
            }
            return missing.isEmpty();
        }
    }
}
