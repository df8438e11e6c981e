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

package dev.dstl.log.testing;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.compaction.Compactor;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.local.LocalDirectories;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.segment.RecentSegments;
import dev.dstl.log.segment.SegmentCopy;
import dev.dstl.log.store.FileSystemSegmentStore;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.CloseableIterator;

/**
 * The changelog storage of one job, on a {@link FaultyStore} and {@link ManualTimers}. Uploads run
 * on the thread that causes them, unless the fixture has threads, which hanging writes need.
 * Everything is uploaded, unless the configuration enables inline state changes.
 */
public final class LogFixture implements AutoCloseable {

    public static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);
    public static final JobID JOB_ID = new JobID(1, 2);
    public static final String INCARNATION = SegmentName.incarnation(1, 2);

    private final FaultyStore store = FaultyStore.create();
    private final ManualTimers timers = new ManualTimers();
    private final RecordedMetrics recorded = new RecordedMetrics();
    private final SegmentRegistry registry;
    private final InFlightBudget budget;
    private final LocalCopies localCopies;
    private final RecentSegments recentSegments;
    private final GroupCommit commit;
    private final Compactor compactor;
    private final SegmentUploader uploader;
    private final PagePool pages = new PagePool(1 << 24);
    private final DstlSettings settings;
    @Nullable private final ExecutorService threads;

    private LogFixture(
            Configuration configuration, Executor executor, @Nullable ExecutorService threads) {
        this(
                configuration,
                executor,
                executor,
                threads,
                LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED,
                Runnable::run,
                0);
    }

    private LogFixture(
            Configuration configuration,
            Executor executor,
            Executor compactions,
            @Nullable ExecutorService threads,
            LocalRecoveryConfig localRecovery,
            Executor localDisk,
            long recentSegmentBytes) {
        configuration.set(DstlOptions.BASE_PATH, store.basePath().toString());
        if (!configuration.contains(DstlOptions.INLINE_THRESHOLD)) {
            configuration.set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO);
        }
        settings = DstlSettings.from(configuration);
        this.threads = threads;
        DstlMetrics metrics = new DstlMetrics(recorded);
        SegmentStore segments;
        try {
            segments =
                    new FileSystemSegmentStore(
                            store.basePath().getFileSystem(),
                            store.basePath(),
                            settings.uploadBufferBytes());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        registry = new SegmentRegistry(segments, executor, timers, metrics);
        budget = new InFlightBudget(settings.maxInFlightBytes());
        uploader =
                new SegmentUploader(
                        settings,
                        JOB_ID,
                        INCARNATION,
                        segments,
                        registry,
                        timers,
                        executor,
                        executor,
                        metrics);
        localCopies =
                LocalCopies.in(
                        LocalDirectories.of(localRecovery, JOB_ID, INCARNATION),
                        localDisk,
                        metrics);
        recentSegments = new RecentSegments(recentSegmentBytes, budget.memory().process(), metrics);
        compactor =
                new Compactor(
                        settings,
                        compactions,
                        pages,
                        new DstlHandleReader(),
                        timers,
                        metrics,
                        budget.memory(),
                        0);
        commit =
                new GroupCommit(
                        settings,
                        uploader,
                        registry,
                        localCopies,
                        recentSegments,
                        budget,
                        timers,
                        metrics);
        budget.memory().addCache(recentSegments::drop);
    }

    /** Everything runs on the calling thread, at once unless a timer delays it. */
    public static LogFixture onCallingThread(Configuration configuration) {
        return new LogFixture(configuration, Runnable::run, null);
    }

    /** Uploads and deletions run on their own threads. */
    public static LogFixture onThreads(Configuration configuration) {
        ExecutorService threads = Executors.newCachedThreadPool();
        return new LogFixture(configuration, threads, threads);
    }

    /** Uploads, encodings and deletions run on the given executor. */
    public static LogFixture on(Executor executor, Configuration configuration) {
        return new LogFixture(configuration, executor, null);
    }

    /**
     * Uploads happen on the calling thread, copies to the local disk when the executor lets them.
     */
    public static LogFixture withLocalCopies(
            Configuration configuration, LocalRecoveryConfig localRecovery, Executor localDisk) {
        return new LogFixture(
                configuration, Runnable::run, Runnable::run, null, localRecovery, localDisk, 0);
    }

    /**
     * Everything but timers happens when the executor lets it; compaction need not read from the
     * store what was written recently.
     *
     * @param recentSegmentBytes what is kept of that
     */
    public static LogFixture keepingSegments(
            Executor executor, Configuration configuration, long recentSegmentBytes) {
        return new LogFixture(
                configuration,
                executor,
                executor,
                null,
                LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED,
                Runnable::run,
                recentSegmentBytes);
    }

    /** Compactions run on their own executor, everything else on another. */
    public static LogFixture withCompactionsOn(
            Executor compactions, Executor executor, Configuration configuration) {
        return new LogFixture(
                configuration,
                executor,
                compactions,
                null,
                LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED,
                Runnable::run,
                0);
    }

    public FaultyStore store() {
        return store;
    }

    public ManualTimers timers() {
        return timers;
    }

    public RecordedMetrics metrics() {
        return recorded;
    }

    public InFlightBudget budget() {
        return budget;
    }

    public RecentSegments recentSegments() {
        return recentSegments;
    }

    public SegmentRegistry registry() {
        return registry;
    }

    public GroupCommit commit() {
        return commit;
    }

    public Compactor compactor() {
        return compactor;
    }

    public SegmentUploader uploader() {
        return uploader;
    }

    /** Opens a changelog; to be closed by the caller. */
    public DstlLogWriter writer() {
        return new DstlLogWriter(
                UUID.randomUUID(),
                KEY_GROUPS,
                pages,
                settings.sealThresholdBytes(),
                commit,
                compactor);
    }

    /** Opens a changelog of an operator; to be closed by the caller. */
    public DstlLogWriter writerOf(String operatorId) {
        return new DstlLogWriter(
                UUID.randomUUID(),
                KEY_GROUPS,
                operatorId,
                pages,
                settings.sealThresholdBytes(),
                commit,
                compactor);
    }

    /** Opens a changelog of a task with a mailbox; to be closed by the caller. */
    public DstlLogWriter writerWith(MailboxExecutor mailbox) {
        return new DstlLogWriter(
                UUID.randomUUID(),
                KEY_GROUPS,
                "operator",
                pages,
                settings.sealThresholdBytes(),
                commit,
                compactor,
                mailbox);
    }

    /** Advances time by {@code batch.persist-delay}. */
    public void passLinger() {
        timers.advanceMillis(settings.lingerMillis());
    }

    /** Persists the whole changelog. */
    public static CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persistAll(
            DstlLogWriter writer) {
        return writer.persist(writer.initialSequenceNumber(), 1);
    }

    /** Appends a text in key group 1. */
    public static void append(DstlLogWriter writer, String text) {
        writer.append(1, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the texts in a handle, in order. */
    public static List<String> texts(ChangelogStateHandleStreamImpl handle) throws Exception {
        List<String> texts = new ArrayList<>();
        CloseableIterator<StateChange> changes = new DstlHandleReader().getChanges(handle);
        try {
            while (changes.hasNext()) {
                texts.add(new String(changes.next().getChange(), StandardCharsets.UTF_8));
            }
        } finally {
            changes.close();
        }
        return texts;
    }

    /** Returns the handle of a persist that has completed or soon will. */
    public static ChangelogStateHandleStreamImpl handleOf(
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist) throws Exception {
        return persist.get(30, TimeUnit.SECONDS).getJobManagerOwnedSnapshot();
    }

    /** Returns the distinct files of a handle; local copies instead of their originals. */
    public static List<String> filesOf(ChangelogStateHandleStreamImpl handle) {
        List<String> files = new ArrayList<>();
        handle.getHandlesAndOffsets()
                .forEach(
                        position -> {
                            StreamStateHandle segment =
                                    position.f0 instanceof SegmentCopy
                                            ? ((SegmentCopy) position.f0).copy()
                                            : position.f0;
                            if (segment instanceof FileStateHandle) {
                                String file = ((FileStateHandle) segment).getFilePath().toString();
                                if (!files.contains(file)) {
                                    files.add(file);
                                }
                            }
                        });
        return files;
    }

    @Override
    public void close() {
        uploader.close();
        commit.close();
        recentSegments.close();
        localCopies.close();
        store.close();
        if (threads != null) {
            threads.shutdownNow();
            try {
                if (!threads.awaitTermination(30, TimeUnit.SECONDS)) {
                    throw new AssertionError("Upload threads still run");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError(e);
            }
        }
    }
}
