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

import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.compaction.Compactor;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.local.LocalDirectories;
import dev.dstl.log.local.SimulatedProcessEnd;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.segment.RecentSegments;
import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.FiberThreads;
import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.schedule.LaneExecutor;
import dev.dstl.log.simulation.schedule.LaneTimers;
import dev.dstl.log.simulation.schedule.Schedule;
import dev.dstl.log.simulation.schedule.ThreadStarts;
import dev.dstl.log.simulation.world.Condition;
import dev.dstl.log.store.FileSystemSegmentStore;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;

/**
 * The changelog storage of the job on one TaskManager: the production classes, connected as in
 * production, on simulated threads, timers and files.
 */
public final class SimulatedLog {

    /** As in the production code. */
    private static final long LINGER_MILLIS = 10_000;

    /** As in the production code, with the linger. */
    private static final long DELETING_MILLIS = 120_000;

    /** As in the production code. */
    private static final long IDLE_MEMORY_MILLIS = 10_000;

    /** A compaction may take this fraction of a job's memory, as a divisor. */
    private static final long COMPACTION_SHARE = 2;

    /** Maximum ratio of a record's size in memory to its size in a segment. */
    private static final long MAX_EXPANSION = 4;

    /** Parallelism at which the number of runs and inline bytes are limited. */
    private static final int MANY_SUBTASKS = 4_000;

    /** No pause: real time would pass while simulated time stands still. */
    private static final long NO_PAUSE_MILLIS = 0;

    /** State changes are uploaded at twice their maximum age at the latest. */
    private static final long LATE_IN_AGES = 2;

    /** Additional time for retries that were scheduled before the faults ended. */
    private static final long LATE_MILLIS = 60_000;

    private final Cluster cluster;
    private final SimulatedJob job;
    private final SimulatedTaskManager taskManager;
    private final Dice dice;
    private final String incarnation;
    private final DstlSettings settings;

    /** Parallelism of the operator; many subtasks have smaller limits each. */
    private final int parallelism;

    private final Lane timerLane;
    private final FiberThreads uploads;
    private final FiberThreads closers;
    private final LaneExecutor discards;
    private final LaneExecutor localDisk;
    private final LocalDirectories localDirectories;
    private final LocalCopies localCopies;
    private final SegmentRegistry registry;
    private final RecentSegments recentSegments;
    private final HeldSegments store;
    private final InFlightBudget budget;
    private final SegmentUploader uploader;
    private final GroupCommit commit;
    private final FiberThreads compactions;
    private final Compactor compactor;
    private final JobMemory memory;
    private final Timers timers;
    private final RecordingMetrics metrics = new RecordingMetrics();
    private boolean closed;
    private boolean vanished;

    SimulatedLog(Cluster cluster, SimulatedJob job, SimulatedTaskManager taskManager, String name) {
        this.cluster = cluster;
        this.job = job;
        this.taskManager = taskManager;
        Schedule schedule = cluster.schedule();
        Mutant mutant = cluster.mutant();
        dice = cluster.dice();
        incarnation =
                mutant.incarnation(
                        SegmentName.incarnation(
                                1_700_000_000_000L + schedule.nowMillis(), dice.bits()));
        settings = LogSettings.random(dice, cluster.conditions(), cluster.store().basePath());
        parallelism = dice.oneOf(1, 1, MANY_SUBTASKS);
        timerLane = schedule.lane(name + "-timer");
        timers = mutant.timers(new LaneTimers(schedule, timerLane), settings);
        cluster.opened(this);
        memory = taskManager.memory().join(mutant.maxInFlightBytes(settings));
        if (cluster.conditions().has(Condition.STORE_DOWN_AT_START) && dice.percent(50)) {
            cluster.store().weather().goesDown(dice.between(100, 30_000));
        }
        uploads =
                threads(
                        name + "-upload",
                        Integer.MAX_VALUE,
                        mutant.uploadThreads(cluster.threadStarts()));
        List<Lane> discardLanes = new ArrayList<>();
        for (int thread = 0; thread < settings.discardThreads(); thread++) {
            discardLanes.add(schedule.lane(name + "-discard-" + thread));
        }
        discards = new LaneExecutor(dice, discardLanes, cluster.threadStarts());
        localDisk =
                new LaneExecutor(
                        dice, List.of(schedule.lane(name + "-disk")), cluster.threadStarts());
        store =
                new HeldSegments(
                        mutant.store(
                                new FileSystemSegmentStore(
                                        cluster.store().client(incarnation),
                                        settings.basePath(),
                                        settings.uploadBufferBytes(),
                                        memory)));
        DstlMetrics dstlMetrics = new DstlMetrics(metrics);
        localDirectories = localDirectories();
        localCopies = LocalCopies.in(localDirectories, localDisk, dstlMetrics, memory);
        registry = new SegmentRegistry(store, mutant.discards(discards), timers, dstlMetrics);
        recentSegments =
                new RecentSegments(recentSegmentLimitBytes(), taskManager.memory(), dstlMetrics);
        budget = new InFlightBudget(memory);
        closers = threads(name + "-upload-close", Integer.MAX_VALUE, cluster.threadStarts());
        uploader =
                new SegmentUploader(
                        settings,
                        job.id(),
                        incarnation,
                        store,
                        registry,
                        timers,
                        uploads,
                        closers,
                        dstlMetrics,
                        dice::fraction);
        compactions = threads(name + "-compaction", Integer.MAX_VALUE, cluster.threadStarts());
        compactor =
                new Compactor(
                        settings,
                        mutant.compactions(compactions),
                        taskManager.pages(),
                        new DstlHandleReader(),
                        timers,
                        dstlMetrics,
                        memory,
                        NO_PAUSE_MILLIS);
        commit =
                new GroupCommit(
                        settings,
                        uploader,
                        registry,
                        localCopies,
                        recentSegments,
                        budget,
                        timers,
                        dstlMetrics);
        memory.addCache(uploader::dropIdle);
        memory.addCache(recentSegments::drop);
        trimIdle();
        schedule.note(
                name,
                String.format(
                        "opens log %s: %s, %d failures, timeout %d ms, %d + %d attempts",
                        incarnation,
                        settings.retryMode(),
                        settings.maxFailedAttempts(),
                        settings.attemptTimeoutMillis(),
                        settings.uploadThreads(),
                        settings.maxSlowAttempts()));
    }

    /** Limit of the process: here a single segment is a large part of it. */
    private long recentSegmentLimitBytes() {
        return cluster.conditions().has(Condition.RECENT_SEGMENTS) ? Long.MAX_VALUE : 0;
    }

    private void noteRecentSegments() {
        if (metrics.count("numberOfRecentSegmentReads") > 0) {
            cluster.conditions().occurred(Condition.RECENT_SEGMENTS);
        }
    }

    private void trimIdle() {
        timers.schedule(this::trimIdle, IDLE_MEMORY_MILLIS);
        long periodNanos = TimeUnit.MILLISECONDS.toNanos(IDLE_MEMORY_MILLIS);
        taskManager.pages().trim(timers.nanoTime(), periodNanos);
        uploader.trimIdle(timers.nanoTime(), periodNanos);
    }

    private FiberThreads threads(String name, int count, ThreadStarts starts) {
        return new FiberThreads(
                cluster.schedule(),
                name,
                count,
                starts,
                cluster.threads(),
                cluster.watcher()::failed);
    }

    private LocalDirectories localDirectories() {
        LocalRecoveryConfig recovery = LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED;
        if (cluster.conditions().has(Condition.LOCAL_COPIES)) {
            recovery =
                    LocalRecoveryConfig.backupAndRecoveryEnabled(
                            new LocalSnapshotDirectoryProviderImpl(
                                    new File(taskManager.host().directory(), "aid_" + taskManager),
                                    job.id(),
                                    new JobVertexID(1, 1),
                                    0));
        }
        return LocalDirectories.of(recovery, job.id(), incarnation);
    }

    DstlLogWriter createWriter(KeyGroupRange keyGroups, Lane task) {
        return new DstlLogWriter(
                new UUID(dice.bits(), dice.bits()),
                keyGroups,
                "operator",
                taskManager.pages(),
                settings.sealThresholdBytes(),
                settings.inlineThresholdBytes(parallelism),
                settings.runLimit(parallelism),
                commit,
                compactor,
                new SimulatedMailbox(task));
    }

    /** Whether tasks may take input. */
    boolean isAvailable() {
        return budget.getAvailableFuture().isDone();
    }

    /** Closes everything in the order in which the TaskManager does. */
    void close() {
        closed = true;
        uploader.close();
        commit.close();
        compactions.shutDownNow();
        uploads.shutDown(() -> registry.whenQuiet(this::stopThreads));
        recentSegments.close();
        noteRecentSegments();
        localCopies.close();
        localDisk.shutDown();
        memory.close();
        Lane end = cluster.schedule().lane(incarnation + "-end");
        end.addIn(LINGER_MILLIS, "stops uploads", this::stopUploads);
        end.addIn(DELETING_MILLIS, "stops threads", this::stopThreads);
    }

    private void stopUploads() {
        if (!vanished) {
            uploads.shutDownNow();
        }
    }

    private void stopThreads() {
        if (!vanished) {
            uploads.shutDownNow();
            discards.shutDown();
            timerLane.close();
        }
    }

    /** Ends with its process. */
    void vanish() {
        vanished = true;
        noteRecentSegments();
        timerLane.close();
        discards.vanish();
        localDisk.vanish();
        compactions.vanish();
        uploads.vanish();
        closers.vanish();
    }

    /** Unlocks the local directories at the end of the simulation. */
    void forget() {
        SimulatedProcessEnd.unlock(localDirectories);
    }

    SimulatedJob job() {
        return job;
    }

    /** Returns the settings. */
    public DstlSettings settings() {
        return settings;
    }

    /** Bytes of segments that are being written, each counted once. */
    public long heldBytes() {
        return store.heldBytes();
    }

    /** Bytes retained by threads that ignore interrupts. */
    public long deafBytes() {
        return deafUploads() * store.largestBytes();
    }

    /** Returns the process. */
    public SimulatedTaskManager taskManager() {
        return taskManager;
    }

    /** Bounds of compacted runs; null if nothing is compacted. */
    @Nullable
    CompactionBounds compactionBounds() {
        long maxBytes = settings.compactionMaxBytes();
        return settings.compactionMinRuns() == 0
                ? null
                : new CompactionBounds(
                        maxBytes,
                        Math.min(
                                MAX_EXPANSION * maxBytes,
                                Math.max(1, settings.maxInFlightBytes() / COMPACTION_SHARE)),
                        settings.runLimit(parallelism));
    }

    /** Number of upload threads that ignore interrupts. */
    public int deafUploads() {
        return cluster.store().uninterruptibleWrites(incarnation);
    }

    public int slowAttempts() {
        return metrics.gauge("slowUploadAttempts");
    }

    /** Number of busy upload threads. */
    public int uploadsUnderWay() {
        return uploads.count();
    }

    /** Number of running and waiting compactions. */
    public int compactionsUnderWay() {
        return compactions.count();
    }

    /** Whether everything must be uploaded, without input and faults for long enough. */
    boolean shouldHaveUploadedAll() {
        long late = LATE_IN_AGES * settings.maxAgeMillis() + LATE_MILLIS;
        return settings.maxAgeMillis() > 0
                && Math.min(cluster.calmMillis(), cluster.fairMillis()) > late;
    }

    /** Deletes a file without checking its owner, for a mutant. */
    void deleteUnsafely(Path file) {
        discards.execute(
                () -> {
                    try {
                        store.delete(file);
                    } catch (java.io.IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });
    }

    /** Returns the budget, for a mutant that leaks bytes. */
    InFlightBudget budget() {
        return budget;
    }

    public boolean isClosed() {
        return closed;
    }

    /** Whether its process ended without closing it. */
    public boolean isVanished() {
        return vanished;
    }

    public String incarnation() {
        return incarnation;
    }

    /** Bytes that are sealed and not durable. */
    public long reservedBytes() {
        return budget.reservedBytes();
    }

    /** Maximum of bytes that are not uploaded because they travel inline. */
    public long heldBytesLimit() {
        boolean mayHold = settings.maxAgeMillis() == 0 && metrics.gauge("uploadQueueSize") > 0;
        return mayHold ? settings.inlineThresholdBytes() * Cluster.MAX_PARALLELISM : 0;
    }

    /** Bytes of segments that are only kept to be read by compactions. */
    public long recentSegmentBytes() {
        return recentSegments.keptBytes();
    }

    /** Number of segments that it owns. */
    public int ownedSegments() {
        return metrics.gauge("uncheckpointedSegments");
    }

    /** Number of files that it reported as left behind. */
    public long leftBehind() {
        return metrics.count("numberOfDiscardFailures");
    }

    /** Number of checkpoints with inline records. */
    public long inlinePersists() {
        return metrics.count("numberOfInlinePersists");
    }

    /** Number of compactions. */
    public long compactions() {
        return metrics.count("numberOfCompactions");
    }

    /** Number of uploads that a hedged attempt completed. */
    public long hedgeWins() {
        return metrics.count("numberOfHedgeWins");
    }
}
