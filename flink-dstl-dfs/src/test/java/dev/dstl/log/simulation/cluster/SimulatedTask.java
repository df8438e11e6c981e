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

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.world.Condition;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import javax.annotation.Nullable;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * One attempt of one subtask: appends to the real writer and to the model, takes part in
 * checkpoints, materializes and truncates as the state backend does. All its events belong to one
 * lane.
 */
final class SimulatedTask {

    private static final long PAUSE_MILLIS = 400;
    private static final long LONG_PAUSE_MILLIS = 4_000;
    private static final int IDLE_PERCENT = 3;
    private static final long MAX_IDLE_MILLIS = 60_000;

    private static final int STEADY_RECORDS = 4;
    private static final long STEADY_PAUSE_MILLIS = 500;

    private final Cluster cluster;
    private SimulatedJobManager jobManager;
    private final SimulatedJob job;
    private final SimulatedTaskManager taskManager;
    private final KeyGroupRange keyGroups;
    private final Lane lane;
    private final Dice dice;
    private final RandomRecords randomRecords;
    private final boolean truncatesEagerly;

    /**
     * Whether compaction boundaries are set, as by the state backend. Without them nothing is
     * compacted.
     */
    private final boolean marksBases;

    private final boolean keepsLongLog;
    private final boolean overlapping;

    private final Map<Long, CheckpointedRange> checkpoints = new TreeMap<>();
    private final List<CompletableFuture<?>> persists = new ArrayList<>();

    /** Runs in the handles of this changelog so far. */
    private final Set<Tuple2<StreamStateHandle, Long>> namedRuns = new HashSet<>();

    private SimulatedLog log;
    private DstlLogWriter writer;
    private KeyedState base = new KeyedState();
    private KeyedState state = new KeyedState();
    private List<LogHandle> restored = new ArrayList<>();

    /** The same changelogs, read from the local disk where the task was restored from it. */
    private List<LogHandle> restoredLocally = new ArrayList<>();

    /** Records since {@link #materializedTo}. */
    private List<TestRecord> records = new ArrayList<>();

    private SequenceNumber materializedTo;
    private SequenceNumber subsumedTo;
    private long newestCheckpointId;
    private boolean materializing;
    private boolean over;

    SimulatedTask(
            Cluster cluster,
            SimulatedJobManager jobManager,
            SimulatedJob job,
            SimulatedTaskManager taskManager,
            KeyGroupRange keyGroups,
            String name) {
        this.cluster = cluster;
        this.jobManager = jobManager;
        this.job = job;
        this.taskManager = taskManager;
        this.keyGroups = keyGroups;
        this.lane = cluster.schedule().lane(name);
        this.dice = cluster.dice();
        this.randomRecords = new RandomRecords(dice);
        this.truncatesEagerly = dice.percent(50);
        this.marksBases = dice.percent(80);
        this.overlapping = cluster.conditions().has(Condition.OVERLAPPING_CHECKPOINTS);
        this.keepsLongLog = cluster.conditions().has(Condition.LONG_LOGS);
    }

    SimulatedTaskManager taskManager() {
        return taskManager;
    }

    Lane lane() {
        return lane;
    }

    boolean isOver() {
        return over;
    }

    /** Assigns the task to another JobManager. */
    void belongsTo(SimulatedJobManager successor) {
        jobManager = successor;
    }

    /** Restores and starts; reports a failure to the JobManager. */
    void start(List<TaskSnapshot> snapshots, long checkpointId) {
        log = taskManager.log(job);
        try {
            for (TaskSnapshot snapshot : snapshots) {
                TaskSnapshot mine = snapshot.in(keyGroups);
                if (mine.local() != null) {
                    cluster.watcher().restoring(mine.local());
                    if (mine.local().isOf(log) && mine.local().hasFiles()) {
                        cluster.conditions().occurred(Condition.LOCAL_COPIES);
                    }
                }
                mine.verifyOn(taskManager);
                base.addAll(mine.base());
                state.addAll(mine.expected());
                restored.addAll(mine.log());
                restoredLocally.addAll(mine.logFor(log));
            }
        } catch (LogMismatch mismatch) {
            cluster.watcher().mismatched(mismatch);
        } catch (IOException | UncheckedIOException e) {
            cluster.schedule().note(lane.name(), "cannot restore");
            fail();
            return;
        }
        if (!snapshots.isEmpty()) {
            cluster.restored();
        }
        try {
            writer = log.createWriter(keyGroups, lane);
            writer.restoredFrom(checkpointId);
        } catch (IllegalStateException closed) {
            fail();
            return;
        }
        if (marksBases) {
            writer.addCompactionBoundary();
        }
        materializedTo = writer.initialSequenceNumber();
        subsumedTo = writer.initialSequenceNumber();
        jobManager.send("running", () -> jobManager.running(this));
        work();
    }

    private void work() {
        if (cluster.isCalm()) {
            return;
        }
        if (cluster.isFair()) {
            if (log.isAvailable()) {
                appendSome(STEADY_RECORDS);
            }
            lane.addIn(STEADY_PAUSE_MILLIS, "works", () -> guarded(this::work));
            return;
        }
        if (log.isAvailable()) {
            doSomething();
        }
        lane.addIn(pauseMillis(), "works", () -> guarded(this::work));
    }

    private long pauseMillis() {
        if (cluster.conditions().has(Condition.IDLE_TASKS) && dice.percent(IDLE_PERCENT)) {
            cluster.conditions().occurred(Condition.IDLE_TASKS);
            return dice.between(5_000, MAX_IDLE_MILLIS);
        }
        return dice.skewed(overlapping ? LONG_PAUSE_MILLIS : PAUSE_MILLIS);
    }

    private void doSomething() {
        int choice = dice.below(20);
        if (choice < (overlapping ? 10 : 15)) {
            appendSome(1 + dice.below(6));
        } else if (choice < 17) {
            writer.nextSequenceNumber();
        } else if (overlapping || !keepsLongLog || dice.percent(2)) {
            startMaterialization();
        }
    }

    private void appendSome(int count) {
        for (int i = 0; i < count && log.isAvailable(); i++) {
            append();
        }
    }

    private void append() {
        TestRecord record = randomRecords.next(keyGroups);
        byte[] bytes = record.bytes();
        writer.append(
                record.kind,
                record.keyGroup,
                record.stateId,
                bytes,
                record.keyPrefixLength,
                record.recordKey.length,
                bytes.length);
        records.add(record);
        state.apply(record);
    }

    private void startMaterialization() {
        if (materializing) {
            return;
        }
        materializing = true;
        SequenceNumber upTo = writer.nextSequenceNumber();
        if (marksBases) {
            writer.addCompactionBoundary();
        }
        KeyedState snapshot = state.copy();
        int covered = records.size();
        cluster.schedule().note(lane.name(), "materializes to " + upTo);
        lane.addIn(
                dice.between(1, overlapping ? 800 : 8_000),
                "materialized",
                () -> {
                    materializing = false;
                    if (dice.percent(80)) {
                        guarded(() -> materialized(upTo, snapshot, covered));
                    }
                });
    }

    private void materialized(SequenceNumber upTo, KeyedState snapshot, int covered) {
        base = snapshot;
        restored = new ArrayList<>();
        restoredLocally = new ArrayList<>();
        records = new ArrayList<>(records.subList(covered, records.size()));
        materializedTo = upTo;
        if (marksBases) {
            writer.baseReplaced(snapshot.sizeBytes());
        }
        truncate();
    }

    /**
     * Truncates the materialized prefix at once; the state backend waits until a checkpoint with
     * the base is complete or an earlier one subsumed.
     */
    private void truncate() {
        boolean bySubsumption = !truncatesEagerly && subsumedTo.compareTo(materializedTo) < 0;
        writer.truncate(bySubsumption ? subsumedTo : materializedTo);
    }

    /** Handles a barrier. Flink ignores barriers that newer ones have overtaken. */
    void snapshot(long checkpointId) {
        if (checkpointId > newestCheckpointId) {
            newestCheckpointId = checkpointId;
            guarded(() -> startSnapshot(checkpointId));
        }
    }

    private void startSnapshot(long checkpointId) {
        CheckpointedRange range =
                new CheckpointedRange(materializedTo, writer.nextSequenceNumber());
        checkpoints.put(checkpointId, range);
        List<LogHandle> older = new ArrayList<>(restored);
        List<LogHandle> olderLocally = new ArrayList<>(restoredLocally);
        List<TestRecord> own = new ArrayList<>(records);
        KeyedState checkpointedBase = base;
        KeyedState expected = state.copy();
        persists.removeIf(CompletableFuture::isDone);
        range.persist = writer.persist(range.from, checkpointId);
        if (!range.persist.isDone() && log.shouldHaveUploadedAll()) {
            cluster.watcher().uploadsLate(log);
        }
        persists.add(
                range.persist.whenComplete(
                        (result, failure) -> {
                            if (failure != null) {
                                later(() -> declined(checkpointId, range), "declines");
                                return;
                            }
                            reportSizes(result.getJobManagerOwnedSnapshot());
                            range.part = handleOf(result, own);
                            List<LogHandle> parts = new ArrayList<>(older);
                            if (range.part != null) {
                                parts.add(range.part);
                            }
                            TaskSnapshot snapshot =
                                    new TaskSnapshot(
                                            keyGroups,
                                            checkpointedBase,
                                            parts,
                                            expected,
                                            localSnapshot(result, own, olderLocally),
                                            range.part,
                                            marksBases ? log.compactionBounds() : null);
                            later(() -> acknowledge(checkpointId, range, snapshot), "acknowledges");
                        }));
    }

    private void reportSizes(@Nullable ChangelogStateHandleStreamImpl handle) {
        if (handle == null) {
            return;
        }
        int newRuns = 0;
        for (Tuple2<StreamStateHandle, Long> run : handle.getHandlesAndOffsets()) {
            newRuns += namedRuns.add(run) || run.f0 instanceof ByteStreamStateHandle ? 1 : 0;
        }
        boolean miscounts = cluster.mutant() == Mutant.NOTHING_COUNTED;
        cluster.watcher()
                .persisted(
                        handle.getHandlesAndOffsets().size(),
                        newRuns,
                        handle.getStateSize(),
                        miscounts ? 0 : handle.getCheckpointedSize());
    }

    private void later(Runnable action, String what) {
        taskManager.asyncLane().add(what + " " + lane.name(), action);
    }

    private LogHandle handleOf(
            SnapshotResult<ChangelogStateHandleStreamImpl> result, List<TestRecord> own) {
        ChangelogStateHandleStreamImpl handle = handleOf(result);
        if (handle != null) {
            return new LogHandle(handle, own);
        }
        if (!own.isEmpty()) {
            cluster.watcher().mismatched(new LogMismatch("no handle", own.size() + " records"));
        }
        return null;
    }

    @Nullable
    private LocalSnapshot localSnapshot(
            SnapshotResult<ChangelogStateHandleStreamImpl> result,
            List<TestRecord> own,
            List<LogHandle> older) {
        ChangelogStateHandleStreamImpl local = result.getTaskLocalSnapshot();
        if (local == null && result.getJobManagerOwnedSnapshot() != null) {
            return null;
        }
        List<LogHandle> parts = new ArrayList<>(older);
        if (local != null) {
            parts.add(new LogHandle(local, own));
        }
        return new LocalSnapshot(taskManager, log, parts);
    }

    private ChangelogStateHandleStreamImpl handleOf(
            SnapshotResult<ChangelogStateHandleStreamImpl> result) {
        ChangelogStateHandleStreamImpl handle = result.getJobManagerOwnedSnapshot();
        if (handle == null || cluster.mutant() != Mutant.POSITION_DROPPED) {
            return handle;
        }
        int size = handle.getHandlesAndOffsets().size();
        return new ChangelogStateHandleStreamImpl(
                handle.getHandlesAndOffsets().subList(0, size - 1),
                keyGroups,
                1,
                1,
                handle.getStorageIdentifier());
    }

    /**
     * The asynchronous part of a checkpoint ends with its task, and when it is given up; it
     * discards what it does not send.
     */
    private void acknowledge(long checkpointId, CheckpointedRange range, TaskSnapshot snapshot) {
        if (!over && !range.aborted) {
            if (range.part != null) {
                cluster.handedOver(range.part);
            }
            jobManager.sendLate(
                    "acknowledge " + checkpointId,
                    () -> jobManager.acknowledged(checkpointId, this, snapshot));
        } else if (range.part != null && cluster.mutant() != Mutant.DROPPED_HANDLE_FORGOTTEN) {
            writer.dropped(range.part.handle());
        }
    }

    private void declined(long checkpointId, CheckpointedRange range) {
        if (!over && !range.aborted) {
            jobManager.send("decline " + checkpointId, () -> jobManager.declined(checkpointId));
        }
    }

    /** Handles the notification of a completed checkpoint, which may be lost. */
    void confirmed(long checkpointId) {
        CheckpointedRange range = checkpoints.get(checkpointId);
        if (range != null) {
            range.confirmed = true;
            subsumedTo = subsumedTo.compareTo(range.from) < 0 ? range.from : subsumedTo;
            guarded(
                    () -> {
                        truncate();
                        writer.confirm(range.from, range.to, checkpointId);
                    });
        }
    }

    /** Handles the notification of an aborted checkpoint, which may be lost. */
    void aborted(long checkpointId) {
        CheckpointedRange range = checkpoints.get(checkpointId);
        if (range == null || range.confirmed) {
            return;
        }
        checkpoints.remove(checkpointId);
        range.aborted = true;
        if (cluster.mutant() != Mutant.DROPPED_HANDLE_FORGOTTEN) {
            boolean unused = range.persist.cancel(false);
        }
        guarded(() -> writer.reset(range.from, range.to, checkpointId));
        if (cluster.mutant() == Mutant.ABORT_DELETES) {
            deleteUnsafely(range);
        } else if (cluster.mutant() == Mutant.BUDGET_LEAKS) {
            log.budget().reserve(1);
        }
    }

    /** Handles the notification of a subsumed checkpoint, which may be lost. */
    void subsumed(long checkpointId) {
        checkpoints
                .entrySet()
                .removeIf(
                        entry -> {
                            if (entry.getKey() > checkpointId) {
                                return false;
                            }
                            SequenceNumber to = entry.getValue().to;
                            subsumedTo = subsumedTo.compareTo(to) < 0 ? to : subsumedTo;
                            return true;
                        });
        guarded(this::truncate);
    }

    /** Fails like a task whose user code throws. */
    void fail() {
        jobManager.send("failed", () -> jobManager.failed(this));
        end();
    }

    /** Ends in an orderly way, after a failure or a cancellation. */
    void end() {
        if (over) {
            return;
        }
        over = true;
        lane.close();
        if (writer != null) {
            if (cluster.mutant() == Mutant.UNCONFIRMED_DELETED_ON_CLOSE) {
                checkpoints.values().stream()
                        .filter(range -> !range.confirmed)
                        .forEach(this::deleteUnsafely);
            }
            if (dice.percent(50)) {
                writer.truncateAndClose(materializedTo);
            }
            writer.close();
            for (CompletableFuture<?> persist : persists) {
                if (!persist.isDone()) {
                    cluster.watcher()
                            .failed(new AssertionError("A closed writer left a persist open"));
                }
            }
        }
        jobManager.ended(this);
    }

    /** Persists that are still pending. */
    List<CompletableFuture<?>> openPersists() {
        persists.removeIf(CompletableFuture::isDone);
        return persists;
    }

    /** Ends with its process. */
    void vanish() {
        over = true;
        lane.close();
    }

    private void deleteUnsafely(CheckpointedRange range) {
        if (range.part != null && !log.isClosed()) {
            for (String file : range.part.files()) {
                log.deleteUnsafely(new Path(cluster.store().basePath().toUri().resolve(file)));
            }
        }
    }

    /** Runs an action. The only permitted failure is a closed changelog, which fails the task. */
    private void guarded(Runnable action) {
        if (over) {
            return;
        }
        try {
            action.run();
        } catch (IllegalStateException e) {
            if (!log.isClosed()) {
                throw e;
            }
            cluster.schedule().note(lane.name(), "finds its log closed");
            fail();
        }
    }

    /** The range of the changelog that a checkpoint covers. */
    private static final class CheckpointedRange {
        private final SequenceNumber from;
        private final SequenceNumber to;
        private CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist;
        private LogHandle part;
        private boolean confirmed;
        private boolean aborted;

        private CheckpointedRange(SequenceNumber from, SequenceNumber to) {
            this.from = from;
            this.to = to;
        }
    }
}
