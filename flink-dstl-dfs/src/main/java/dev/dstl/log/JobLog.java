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
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.DaemonThreads;
import dev.dstl.log.execution.ThreadTimers;
import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.local.LocalDirectories;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.replay.ReadAheadBudget;
import dev.dstl.log.store.BasePathCheck;
import dev.dstl.log.store.FileSystemSegmentStore;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import dev.dstl.log.writer.DstlLogWriter;
import dev.dstl.log.writer.LogMerging;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts of the log of one job on one TaskManager, put together; owns its threads. */
final class JobLog implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(JobLog.class);
    private static final long MAX_IDLE_PAGE_BYTES = 64L << 20;
    private static final long IDLE_THREAD_SECONDS = 10;

    /** The share of what a merge may read that it may hold before it is its turn. */
    private static final int READ_AHEAD_SHARE = 4;

    /** More than all tries to delete a file take, and than most stores need for a request. */
    private static final long LINGER_SECONDS = 10;

    private final DstlSettings settings;
    private final ThreadTimers timers = new ThreadTimers("dstl-timer");
    private final ExecutorService uploads;
    private final ExecutorService discards;
    private final ExecutorService localDisk = threads(1, "dstl-local");
    private final LocalCopies localCopies;
    private final SegmentRegistry registry;
    private final InFlightBudget budget;
    private final SegmentUploader uploader;
    private final GroupCommit commit;
    private final ExecutorService merges = threads(1, "dstl-merge");
    private final LogMerging merging;
    private final PagePool pages;

    /**
     * Puts the parts together after trying the base path, which blocks.
     *
     * @throws org.apache.flink.configuration.IllegalConfigurationException if nothing can be
     *     written there
     */
    static JobLog open(
            JobID jobId,
            DstlSettings settings,
            MetricGroup metricGroup,
            LocalRecoveryConfig localRecovery) {
        FileSystem fileSystem = BasePathCheck.fileSystem(settings.basePath());
        SegmentStore store =
                new FileSystemSegmentStore(
                        fileSystem, settings.basePath(), settings.uploadBufferBytes());
        String incarnation =
                SegmentName.incarnation(
                        System.currentTimeMillis(), ThreadLocalRandom.current().nextLong());
        Path probe =
                BasePathCheck.write(
                        settings.basePath(),
                        store,
                        new SegmentName(jobId, incarnation, SegmentName.PROBE_SEQUENCE, 1));
        LOG.info(
                "Changes of job {} go to {}",
                jobId,
                SegmentName.directory(settings.basePath(), jobId, incarnation));
        JobLog log =
                new JobLog(
                        jobId,
                        settings,
                        incarnation,
                        store,
                        LocalDirectories.of(localRecovery, jobId, incarnation),
                        new DstlMetrics(metricGroup));
        log.registry.discardAttempt(probe);
        return log;
    }

    private JobLog(
            JobID jobId,
            DstlSettings settings,
            String incarnation,
            SegmentStore store,
            LocalDirectories localDirectories,
            DstlMetrics metrics) {
        this.settings = settings;
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
                        registry.whenQuiet(JobLog.this::stopThreads);
                    }
                };
        discards = threads(settings.discardThreads(), "dstl-discard");
        budget = new InFlightBudget(settings.maxInFlightBytes());
        pages = new PagePool(Math.min(settings.maxInFlightBytes(), MAX_IDLE_PAGE_BYTES));
        localCopies = LocalCopies.in(localDirectories, localDisk, metrics);
        registry = new SegmentRegistry(store, discards, timers, metrics);
        uploader =
                new SegmentUploader(
                        settings, jobId, incarnation, store, registry, timers, uploads, metrics);
        merging =
                new LogMerging(
                        settings,
                        merges,
                        pages,
                        new DstlHandleReader(
                                new ReadAheadBudget(settings.mergeMaxBytes() / READ_AHEAD_SHARE)),
                        timers,
                        metrics);
        commit =
                new GroupCommit(settings, uploader, registry, localCopies, budget, timers, metrics);
    }

    private static ExecutorService threads(int threads, String name) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        threads,
                        threads,
                        IDLE_THREAD_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        new DaemonThreads(name));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    DstlLogWriter createWriter(String operatorId, KeyGroupRange keyGroupRange) {
        UUID logId = UUID.randomUUID();
        LOG.info("Log {} takes the changes of {} {}", logId, operatorId, keyGroupRange);
        return new DstlLogWriter(
                logId,
                keyGroupRange,
                operatorId,
                pages,
                settings.sealThresholdBytes(),
                commit,
                merging);
    }

    CompletableFuture<?> availableFuture() {
        return budget.getAvailableFuture();
    }

    /**
     * Does not wait for anything: runs on the main thread of the TaskManager. Until they are done,
     * but not for long, attempts that run may come to their end, since one that is interrupted may
     * arrive at the store after its file was deleted; and files are deleted that nobody needs, also
     * at second try.
     */
    @Override
    public void close() {
        uploader.close();
        commit.close();
        merges.shutdownNow();
        uploads.shutdown();
        localCopies.close();
        localDisk.shutdown();
        CompletableFuture.delayedExecutor(LINGER_SECONDS, TimeUnit.SECONDS, Runnable::run)
                .execute(this::stopThreads);
    }

    private void stopThreads() {
        uploads.shutdownNow();
        discards.shutdown();
        timers.close();
    }
}
