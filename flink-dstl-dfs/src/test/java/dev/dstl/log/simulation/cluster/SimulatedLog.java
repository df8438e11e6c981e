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

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.config.RetryMode;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.FiberThreads;
import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.schedule.LaneExecutor;
import dev.dstl.log.simulation.schedule.LaneTimers;
import dev.dstl.log.simulation.schedule.Schedule;
import dev.dstl.log.store.FileSystemSegmentStore;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import dev.dstl.log.writer.DstlLogWriter;
import dev.dstl.log.writer.LogMerging;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The log of the job on one TaskManager: the production classes, put together as the production
 * code does, on simulated threads, timers and files.
 */
public final class SimulatedLog {

    private final Dice dice;
    private final String incarnation;
    private final DstlSettings settings;
    private final Lane timerLane;
    private final FiberThreads uploads;
    private final LaneExecutor discards;
    private final SegmentStore store;
    private final InFlightBudget budget;
    private final SegmentUploader uploader;
    private final GroupCommit commit;
    private final LaneExecutor merges;
    private final LogMerging merging;
    private final PagePool pages;
    private final RecordingMetrics metrics = new RecordingMetrics();
    private boolean closed;
    private boolean vanished;

    SimulatedLog(Cluster cluster, String name) {
        Schedule schedule = cluster.schedule();
        Mutant mutant = cluster.mutant();
        dice = cluster.dice();
        incarnation =
                mutant.incarnation(
                        SegmentName.incarnation(
                                1_700_000_000_000L + schedule.nowMillis(), dice.bits()));
        settings = LogSettings.random(dice, cluster.store().basePath());
        timerLane = schedule.lane(name + "-timer");
        Timers timers = mutant.timers(new LaneTimers(schedule, timerLane));
        uploads =
                new FiberThreads(
                        schedule, name + "-upload", cluster.threads(), cluster.watcher()::failed);
        List<Lane> discardLanes = new ArrayList<>();
        for (int thread = 0; thread < settings.discardThreads(); thread++) {
            discardLanes.add(schedule.lane(name + "-discard-" + thread));
        }
        discards = new LaneExecutor(dice, discardLanes);
        store =
                mutant.store(
                        new FileSystemSegmentStore(
                                cluster.store().client(incarnation),
                                settings.basePath(),
                                settings.uploadBufferBytes()));
        DstlMetrics dstlMetrics = new DstlMetrics(metrics);
        SegmentRegistry registry =
                new SegmentRegistry(store, mutant.discards(discards), timers, dstlMetrics);
        budget = new InFlightBudget(settings.maxInFlightBytes());
        pages = new PagePool(settings.maxInFlightBytes());
        uploader =
                new SegmentUploader(
                        settings,
                        cluster.jobId(),
                        incarnation,
                        store,
                        registry,
                        timers,
                        uploads,
                        dstlMetrics,
                        dice::fraction);
        merges = new LaneExecutor(dice, List.of(schedule.lane(name + "-merge")));
        merging =
                new LogMerging(
                        settings, merges, pages, new DstlHandleReader(), timers, dstlMetrics);
        commit = new GroupCommit(settings, uploader, registry, budget, timers, dstlMetrics);
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

    DstlLogWriter createWriter(KeyGroupRange keyGroups) {
        return new DstlLogWriter(
                new UUID(dice.bits(), dice.bits()),
                keyGroups,
                pages,
                settings.sealThresholdBytes(),
                commit,
                merging);
    }

    /** Whether tasks may take input. */
    boolean isAvailable() {
        return budget.getAvailableFuture().isDone();
    }

    /** As the TaskManager closes it, in the same order. */
    void close() {
        closed = true;
        uploader.close();
        commit.close();
        merges.shutDown();
        uploads.shutDownNow();
        discards.shutDown();
        timerLane.close();
    }

    /** The process is gone. */
    void vanish() {
        vanished = true;
        timerLane.close();
        discards.vanish();
        merges.vanish();
        uploads.vanish();
    }

    /** What an unsafe TaskManager would do. */
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

    /** What a leak would do. */
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

    /** Bytes that may wait for more, as they travel in handles and never grow too old. */
    public long heldBytesLimit() {
        boolean mayHold = settings.maxAgeMillis() == 0 && metrics.gauge("uploadQueueSize") > 0;
        return mayHold ? settings.inlineThresholdBytes() * Cluster.MAX_PARALLELISM : 0;
    }

    /** Segments that it believes to own. */
    public int ownedSegments() {
        return metrics.gauge("uncheckpointedSegments");
    }

    /** Files that it said it left behind. */
    public long leftBehind() {
        return metrics.count("numberOfDiscardFailures");
    }

    /** Checkpoints whose handle had records inside. */
    public long inlinePersists() {
        return metrics.count("numberOfInlinePersists");
    }

    /** How often some batches became one. */
    public long merges() {
        return metrics.count("numberOfMerges");
    }

    /** Uploads that a hedge finished. */
    public long hedgeWins() {
        return metrics.count("numberOfHedgeWins");
    }

    /**
     * Whether connections that never answer may keep it from uploading, as configured: there is no
     * second attempt, or no place for it.
     */
    public boolean isExcusedByHangs() {
        int hanging = uploads.count();
        return hanging > 0
                && (settings.retryMode() == RetryMode.NONE || settings.maxSlowAttempts() < hanging);
    }
}
