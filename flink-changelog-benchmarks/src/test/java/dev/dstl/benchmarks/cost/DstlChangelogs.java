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

package dev.dstl.benchmarks.cost;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.dstl.log.api.RecordKind;
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
import dev.dstl.log.store.FileSystemSegmentStore;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.ManualTimers;
import dev.dstl.log.testing.RecordedMetrics;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/** DSTL as on a TaskManager, with default options, except for threads and the clock. */
final class DstlChangelogs implements SimulatedChangelogs {

    static final JobID JOB_ID = new JobID(0x3a283a2b27b0ed80L, 0x98061b6fa53a3b3aL);

    /** Divisor of {@code upload.max-in-flight}, as in production. */
    private static final int RECENT_SEGMENTS_SHARE = 4;

    private final FaultyStore store = FaultyStore.create();
    private final ManualTimers timers = new ManualTimers();
    private final Executor soon = task -> timers.schedule(task, 0);
    private final RecentSegments recentSegments;
    private final SegmentUploader uploader;
    private final GroupCommit commit;
    private final List<DstlLogWriter> writers = new ArrayList<>();

    DstlChangelogs(CostWorkload workload, int taskManager) throws IOException {
        DstlSettings settings =
                DstlSettings.from(
                        new Configuration()
                                .set(DstlOptions.BASE_PATH, store.basePath().toString()));
        DstlMetrics metrics = new DstlMetrics(new RecordedMetrics());
        SegmentStore segments =
                new FileSystemSegmentStore(
                        store.basePath().getFileSystem(),
                        store.basePath(),
                        settings.uploadBufferBytes());
        SegmentRegistry registry = new SegmentRegistry(segments, soon, timers, metrics);
        InFlightBudget budget = new InFlightBudget(settings.maxInFlightBytes());
        String incarnation = SegmentName.incarnation(1_763_640_000_000L, taskManager);
        uploader =
                new SegmentUploader(
                        settings,
                        JOB_ID,
                        incarnation,
                        segments,
                        registry,
                        timers,
                        soon,
                        soon,
                        metrics);
        recentSegments =
                new RecentSegments(
                        settings.maxInFlightBytes() / RECENT_SEGMENTS_SHARE,
                        budget.memory().process(),
                        metrics);
        PagePool pages = new PagePool(settings.maxInFlightBytes());
        Compactor compactor =
                new Compactor(
                        settings,
                        soon,
                        pages,
                        new DstlHandleReader(),
                        timers,
                        metrics,
                        budget.memory());
        commit =
                new GroupCommit(
                        settings,
                        uploader,
                        registry,
                        LocalCopies.in(
                                LocalDirectories.of(
                                        LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED,
                                        JOB_ID,
                                        incarnation),
                                soon,
                                metrics),
                        recentSegments,
                        budget,
                        timers,
                        metrics);
        for (int i = 0; i < workload.changelogs(); i++) {
            writers.add(
                    new DstlLogWriter(
                            new UUID(taskManager, i),
                            KeyGroupRange.of(0, SimulatedTaskManager.KEY_GROUPS - 1),
                            "operator-" + i,
                            pages,
                            settings.sealThresholdBytes(),
                            settings.inlineThresholdBytes(CostWorkload.PARALLELISM),
                            settings.runLimit(CostWorkload.PARALLELISM),
                            commit,
                            compactor,
                            null));
            // As the changelog state backend says when it begins.
            writers.get(i).addCompactionBoundary();
        }
    }

    /** Whether DSTL wrote it. */
    static boolean isDstl(ChangelogStateHandleStreamImpl handle) {
        return DstlHandleReader.STORAGE_IDENTIFIER.equals(handle.getStorageIdentifier());
    }

    @Override
    public FaultyStore store() {
        return store;
    }

    @Override
    public DstlLogWriter writer(int changelog) {
        return writers.get(changelog);
    }

    @Override
    public void append(int changelog, int keyGroup, byte[] change) {
        writer(changelog)
                .append(
                        RecordKind.PUT,
                        keyGroup,
                        1,
                        change,
                        CostWorkload.RECORD_KEY_BYTES,
                        CostWorkload.RECORD_KEY_BYTES,
                        change.length);
    }

    @Override
    public SequenceNumber materialize(int changelog) {
        writer(changelog).addCompactionBoundary();
        return writer(changelog).nextSequenceNumber();
    }

    @Override
    public void pass(long millis) {
        timers.advanceMillis(millis);
    }

    @Override
    public ChangelogStateHandleStreamImpl await(
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist) throws Exception {
        return persist.get(0, SECONDS).getJobManagerOwnedSnapshot();
    }

    @Override
    public void close() {
        writers.forEach(DstlLogWriter::close);
        uploader.close();
        commit.close();
        recentSegments.close();
        pass(1);
        store.close();
    }
}
