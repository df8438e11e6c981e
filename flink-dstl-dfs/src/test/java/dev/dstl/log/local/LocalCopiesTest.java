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

package dev.dstl.log.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.execution.DaemonThreads;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.RecordedMetrics;
import java.io.BufferedInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The memory of segments that wait for the local disk. */
@Timeout(60)
class LocalCopiesTest {

    private static final int SEGMENTS = 10;
    private static final long LIMIT_BYTES = 1 << 20;

    @TempDir private Path root;

    private final ProcessMemory process = new ProcessMemory();
    private final JobMemory memory = process.join(LIMIT_BYTES);
    private final RecordedMetrics metrics = new RecordedMetrics();
    private final EncodedSegment segment =
            TestSegments.encode(SegmentCodec.NONE, List.of(TestRecord.opaque(1, "a")));
    private LocalDirectories directories;

    @BeforeEach
    void open() {
        directories =
                LocalDirectories.of(
                        LocalRecoveryConfig.backupAndRecoveryEnabled(
                                new LocalSnapshotDirectoryProviderImpl(
                                        new File[] {root.resolve("aid_0123").toFile()},
                                        LogFixture.JOB_ID,
                                        new JobVertexID(),
                                        0)),
                        LogFixture.JOB_ID,
                        LogFixture.INCARNATION);
    }

    @Test
    void closedWhileTheDiskHangs_onlyTheCopyThatHangsHoldsMemory() throws Exception {
        ExecutorService disk = Executors.newSingleThreadExecutor(new DaemonThreads("disk"));
        LocalCopies copies = copies(disk);
        File hanging = hangingFile();
        for (int i = 0; i < SEGMENTS; i++) {
            copies.write(copies.open(1), segment);
        }
        assertThat(reservedBytes()).isEqualTo(SEGMENTS * segment.length());
        File lock = new File(hanging.getParent() + DirectoryLocks.SUFFIX);
        await().until(lock::exists);

        copies.close();

        assertThat(reservedBytes()).isEqualTo(segment.length());
        copies.write(copies.open(1), segment);
        assertThat(reservedBytes()).as("late segment").isEqualTo(segment.length());
        try (InputStream answer = new BufferedInputStream(new FileInputStream(hanging))) {
            assertThat(answer.readAllBytes()).hasSize((int) segment.length());
        }
        disk.shutdown();
        assertThat(disk.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        assertThat(reservedBytes()).isZero();
        assertThat(hanging.getParentFile()).doesNotExist();
    }

    @Test
    void copyThatCannotStart_holdsNoMemory() {
        LocalCopies copies =
                copies(
                        task -> {
                            throw new RejectedExecutionException("no thread");
                        });

        copies.write(copies.open(1), segment);

        assertThat(reservedBytes()).isZero();
    }

    @Test
    void copyAfterOneThatCannotStart_isWritten() {
        AtomicBoolean threads = new AtomicBoolean();
        LocalCopies copies =
                copies(
                        task -> {
                            if (!threads.getAndSet(true)) {
                                throw new RejectedExecutionException("no thread");
                            }
                            task.run();
                        });

        copies.write(copies.open(1), segment);
        copies.write(copies.open(1), segment);

        assertThat(reservedBytes()).isZero();
    }

    @Test
    void copyThatNoBatchNeeds_holdsNoMemory_whileTheDiskHangs() {
        ManualExecutor disk = new ManualExecutor();
        LocalCopies copies = copies(disk);
        List<LocalCopy> unneeded = new ArrayList<>();
        for (int i = 0; i < SEGMENTS; i++) {
            unneeded.add(copies.open(2));
            copies.write(unneeded.get(i), segment);
        }

        unneeded.forEach(LocalCopy::release);
        assertThat(reservedBytes()).as("one batch each").isEqualTo(SEGMENTS * segment.length());
        unneeded.forEach(LocalCopy::release);

        assertThat(reservedBytes()).isZero();
        disk.runAll();
        assertThat(directories.file(1)).doesNotExist();
        assertThat(reservedBytes()).isZero();
    }

    @Test
    void copyThatNoBatchNeeds_beforeItIsWritten_holdsNoMemory() {
        LocalCopies copies = copies(new ManualExecutor());
        LocalCopy unneeded = copies.open(1);
        unneeded.release();

        copies.write(unneeded, segment);

        assertThat(reservedBytes()).isZero();
    }

    @Test
    void copiesThatWait_giveWayToACompaction() {
        ManualExecutor disk = new ManualExecutor();
        LocalCopies copies = copies(disk);
        JobMemory other = process.join(LIMIT_BYTES);
        long optionalBytes = process.stopBytes() / 4 * 3;
        memory.reserve(MemoryUse.IN_FLIGHT, optionalBytes - SEGMENTS * segment.length());
        for (int i = 0; i < SEGMENTS; i++) {
            copies.write(copies.open(1), segment);
        }
        assertThat(memory.reservedBytes()).isEqualTo(optionalBytes);

        assertThat(memory.tryReserve(MemoryUse.COMPACTION, optionalBytes)).isFalse();
        assertThat(reservedBytes()).as("would not suffice").isPositive();
        LocalCopy refused = copies.open(1);
        copies.write(refused, segment);
        assertThat(reservedBytes()).as("for a copy").isEqualTo(SEGMENTS * segment.length());
        assertThat(other.tryReserve(MemoryUse.COMPACTION, SEGMENTS * segment.length())).isTrue();

        assertThat(reservedBytes()).isZero();
        assertThat(metrics.count("numberOfLocalCopyFailures")).isEqualTo(SEGMENTS + 1);
        disk.runAll();
        assertThat(metrics.count("numberOfLocalCopies")).isZero();
    }

    @Test
    void copiesThatWait_stopNoInput_andHaveNoBatchSealedEarly() {
        LocalCopies copies = copies(new ManualExecutor());
        memory.reserve(MemoryUse.ACTIVE, LIMIT_BYTES / 2 - segment.length());
        copies.write(copies.open(1), segment);
        assertThat(memory.isTight()).isFalse();

        memory.reserve(MemoryUse.ACTIVE, LIMIT_BYTES / 2);

        assertThat(memory.isAvailable()).isTrue();
        assertThat(reservedBytes()).isZero();
        assertThat(memory.isTight()).isTrue();
    }

    private LocalCopies copies(Executor disk) {
        return LocalCopies.in(directories, disk, new DstlMetrics(metrics), memory);
    }

    private long reservedBytes() {
        return process.reservedBytes(MemoryUse.LOCAL_COPIES);
    }

    /** Creates the file of the first copy as a pipe, whose writer waits for a reader. */
    private File hangingFile() throws Exception {
        File file = directories.file(1);
        Files.createDirectories(file.getParentFile().toPath());
        assertThat(new ProcessBuilder("mkfifo", file.getPath()).inheritIO().start().waitFor())
                .isZero();
        return file;
    }
}
