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

package dev.dstl.log;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.compaction.Compactor;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.DaemonThreads;
import dev.dstl.log.execution.ThreadTimers;
import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.local.LocalDirectories;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.replay.ReadAheadBudget;
import dev.dstl.log.segment.RecentSegments;
import dev.dstl.log.store.BasePath;
import dev.dstl.log.store.EmptyDirectories;
import dev.dstl.log.store.LazySegmentStore;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.core.fs.Path;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changelog of one job on one TaskManager: creates and connects its components and owns its
 * threads.
 */
final class JobLog implements OpenLogs.OpenLog {

    private static final Logger LOG = LoggerFactory.getLogger(JobLog.class);
    private static final long IDLE_THREAD_SECONDS = 10;

    /** Divisor of the maximum size of a compaction for what may be fetched ahead of reading. */
    private static final int READ_AHEAD_SHARE = 4;

    /**
     * Divisor of the memory limit for recent segments. With the defaults, ten minutes of 40 KB per
     * second are then read from memory. A job that writes more makes few requests for its bytes
     * anyway.
     */
    private static final int RECENT_SEGMENTS_SHARE = 4;

    /** Longer than most stores need for a request. */
    private static final long LINGER_SECONDS = 10;

    /**
     * Longer than it takes after the linger until a file is deleted for the second time, and until
     * a deletion that hangs is interrupted.
     */
    private static final long DELETING_SECONDS = 110;

    /** How long unused memory is kept before it is freed. */
    private static final long IDLE_MEMORY_SECONDS = 10;

    private final DstlSettings settings;
    private final LazySegmentStore store;
    private final ThreadTimers timers = new ThreadTimers("dstl-timer");
    private final ExecutorService uploads;
    private final ExecutorService discards;

    /** Closes streams of cancelled uploads, also after {@link #uploads} takes no more of them. */
    private final ExecutorService closers =
            new ThreadPoolExecutor(
                    0,
                    Integer.MAX_VALUE,
                    IDLE_THREAD_SECONDS,
                    TimeUnit.SECONDS,
                    new SynchronousQueue<>(),
                    new DaemonThreads("dstl-upload-close"));

    private final CompletableFuture<Void> copiesDeleted = new CompletableFuture<>();
    private final ExecutorService localDisk =
            threads(1, "dstl-local", () -> copiesDeleted.complete(null));
    private final LocalCopies localCopies;
    private final Path directory;
    private final SegmentRegistry registry;
    private final RecentSegments recentSegments;
    private final JobMemory memory;
    private final SegmentUploader uploader;
    private final GroupCommit commit;
    private final ExecutorService compactions =
            new ThreadPoolExecutor(
                    0,
                    Integer.MAX_VALUE,
                    IDLE_THREAD_SECONDS,
                    TimeUnit.SECONDS,
                    new SynchronousQueue<>(),
                    new DaemonThreads("dstl-compaction"));
    private final Compactor compactor;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CompletableFuture<Void> segmentsDeleted = new CompletableFuture<>();
    private final CompletableFuture<Void> ended =
            CompletableFuture.allOf(segmentsDeleted, copiesDeleted).thenRun(this::nothingLeft);

    /**
     * Creates and connects the components. Waits for the file system of the base path, but not for
     * long, and writes nothing.
     *
     * @throws org.apache.flink.configuration.IllegalConfigurationException if there is no file
     *     system for its scheme
     * @throws InterruptedIOException if the thread is interrupted
     */
    static JobLog open(
            JobID jobId,
            DstlSettings settings,
            MetricGroup metricGroup,
            LocalRecoveryConfig localRecovery)
            throws InterruptedIOException {
        JobMemory memory = ProcessMemory.shared().join(settings.maxInFlightBytes());
        try {
            return open(jobId, settings, metricGroup, localRecovery, memory);
        } catch (Throwable t) {
            memory.close();
            throw t;
        }
    }

    private static JobLog open(
            JobID jobId,
            DstlSettings settings,
            MetricGroup metricGroup,
            LocalRecoveryConfig localRecovery,
            JobMemory memory)
            throws InterruptedIOException {
        LazySegmentStore store =
                new LazySegmentStore(
                        new BasePath(settings.basePath()), settings.uploadBufferBytes(), memory);
        store.open();
        String incarnation =
                SegmentName.incarnation(
                        System.currentTimeMillis(), ThreadLocalRandom.current().nextLong());
        Path directory = SegmentName.directory(settings.basePath(), jobId, incarnation);
        LOG.info("State changes of job {} go to {}", jobId, directory);
        JobLog log =
                new JobLog(
                        jobId,
                        settings,
                        incarnation,
                        store,
                        directory,
                        memory,
                        LocalDirectories.of(localRecovery, jobId, incarnation),
                        new DstlMetrics(metricGroup));
        OpenLogs.ofProcess().add(log);
        log.deleteEmptyDirectories();
        log.trimIdle();
        log.timers.every(TimeUnit.SECONDS.toMillis(IDLE_MEMORY_SECONDS), log::trimIdle);
        return log;
    }

    private JobLog(
            JobID jobId,
            DstlSettings settings,
            String incarnation,
            LazySegmentStore store,
            Path directory,
            JobMemory memory,
            LocalDirectories localDirectories,
            DstlMetrics metrics) {
        this.settings = settings;
        this.store = store;
        this.directory = directory;
        this.memory = memory;
        uploads =
                new ThreadPoolExecutor(
                        0,
                        Integer.MAX_VALUE,
                        IDLE_THREAD_SECONDS,
                        TimeUnit.SECONDS,
                        new SynchronousQueue<>(),
                        new DaemonThreads("dstl-upload")) {
                    @Override
                    protected void terminated() {
                        registry.whenQuiet(JobLog.this::end);
                    }
                };
        discards = threads(settings.discardThreads(), "dstl-discard", this::stopTimers);
        localCopies = LocalCopies.in(localDirectories, localDisk, metrics, memory);
        registry = new SegmentRegistry(store, discards, timers, metrics);
        recentSegments =
                new RecentSegments(
                        settings.compactionMinRuns() == 0
                                ? 0
                                : settings.maxInFlightBytes() / RECENT_SEGMENTS_SHARE,
                        memory.process(),
                        metrics);
        uploader =
                new SegmentUploader(
                        settings,
                        jobId,
                        incarnation,
                        store,
                        registry,
                        timers,
                        uploads,
                        closers,
                        metrics);
        compactor =
                new Compactor(
                        settings,
                        compactions,
                        PagePool.shared(),
                        new DstlHandleReader(
                                new ReadAheadBudget(
                                        settings.compactionMaxBytes() / READ_AHEAD_SHARE)),
                        timers,
                        metrics,
                        memory);
        commit =
                new GroupCommit(
                        settings,
                        uploader,
                        registry,
                        localCopies,
                        recentSegments,
                        new InFlightBudget(memory),
                        timers,
                        metrics);
        memory.addCache(uploader::dropIdle);
        memory.addCache(recentSegments::drop);
    }

    private static ExecutorService threads(int threads, String name, Runnable whenTerminated) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        threads,
                        threads,
                        IDLE_THREAD_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        new DaemonThreads(name)) {
                    @Override
                    protected void terminated() {
                        whenTerminated.run();
                    }
                };
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private void deleteEmptyDirectories() {
        try {
            discards.execute(
                    () ->
                            store.whenOpen(
                                    files ->
                                            EmptyDirectories.deleteSomeBeside(
                                                    files, directory, registry::inTime)));
        } catch (Throwable notStarted) {
            LOG.debug("Directories beside {} stay", directory, notStarted);
        }
    }

    private void trimIdle() {
        long periodNanos = TimeUnit.SECONDS.toNanos(IDLE_MEMORY_SECONDS);
        PagePool.shared().trim(timers.nanoTime(), periodNanos);
        uploader.trimIdle(timers.nanoTime(), periodNanos);
    }

    DstlLogWriter createWriter(
            String operatorId,
            KeyGroupRange keyGroupRange,
            MailboxExecutor mailbox,
            int parallelism) {
        UUID logId = UUID.randomUUID();
        LOG.info(
                "Changelog {} records the state changes of {} {}",
                logId,
                operatorId,
                keyGroupRange);
        return new DstlLogWriter(
                logId,
                keyGroupRange,
                operatorId,
                PagePool.shared(),
                settings.sealThresholdBytes(),
                settings.inlineThresholdBytes(parallelism),
                settings.runLimit(parallelism),
                commit,
                compactor,
                mailbox);
    }

    Optional<String> storeProblem() {
        return store.problem();
    }

    CompletableFuture<?> availableFuture() {
        return memory.getAvailableFuture();
    }

    /**
     * Closes without waiting, since this runs on the main thread of the TaskManager. Uploads of
     * segments that no checkpoint has are interrupted; the threads get {@value #LINGER_SECONDS}
     * seconds to return. Deleting unneeded files may take {@value #DELETING_SECONDS} seconds
     * longer, since some are deleted twice: an interrupted request may reach the store after its
     * file was deleted.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        Closing.all(
                List.of(
                        uploader::close,
                        commit::close,
                        compactions::shutdownNow,
                        uploads::shutdown,
                        recentSegments::close,
                        localCopies::close,
                        localDisk::shutdown,
                        memory::close,
                        () -> after(LINGER_SECONDS, this::stopUploads)));
    }

    private static void after(long seconds, Runnable action) {
        CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS, Runnable::run).execute(action);
    }

    private void stopUploads() {
        if (!segmentsDeleted.isDone()) {
            after(DELETING_SECONDS, this::stopDeleting);
        }
        if (!copiesDeleted.isDone()) {
            // A disk that works again later still deletes them.
            after(DELETING_SECONDS, () -> copiesDeleted.complete(null));
        }
        Closing.all(List.of(uploads::shutdownNow, store::close));
    }

    /** Leaves behind what is not deleted by now. */
    private void stopDeleting() {
        Closing.all(
                List.of(
                        registry::close,
                        uploads::shutdownNow,
                        closers::shutdownNow,
                        discards::shutdownNow,
                        store::close,
                        timers::close));
    }

    /**
     * Interrupts running uploads, whose results are no longer needed, and deletes now what would be
     * deleted later.
     */
    @Override
    public void interruptUploads() {
        Closing.all(List.of(uploads::shutdownNow, registry::hurry));
    }

    /**
     * Returns a future that completes after {@link #close}, once every unneeded file is deleted or
     * can no longer be deleted.
     */
    @Override
    public CompletableFuture<Void> ended() {
        return ended;
    }

    private void nothingLeft() {
        OpenLogs.ofProcess().remove(this);
    }

    /** Called when only the directory is left to delete; it stays if it is not empty. */
    private void end() {
        try {
            discards.execute(this::deleteDirectory);
        } catch (Throwable notStarted) {
            LOG.debug("{} stays", directory, notStarted);
        }
        discards.shutdown();
    }

    private void deleteDirectory() {
        store.whenOpen(
                files -> {
                    if (!EmptyDirectories.deleteOfWriter(files, directory, registry::inTime)) {
                        LOG.debug("{} stays", directory);
                    }
                });
    }

    /** Called when no deletion can need a timer any more. */
    private void stopTimers() {
        Closing.all(
                List.of(
                        () -> segmentsDeleted.complete(null),
                        closers::shutdownNow,
                        store::close,
                        timers::close));
    }
}
