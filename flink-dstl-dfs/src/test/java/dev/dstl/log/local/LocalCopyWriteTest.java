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

import static dev.dstl.log.local.RecoverableTask.local;
import static dev.dstl.log.local.RecoverableTask.remote;
import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.WriteFault;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of segments are written to the local disk while the segments are uploaded. */
class LocalCopyWriteTest {

    @TempDir Path disks;
    private RecoverableTask task;

    @BeforeEach
    void open() {
        task = new RecoverableTask(disks);
    }

    @AfterEach
    void close() {
        task.close();
    }

    @Test
    void checkpoint_hasALocalPart_thatNeedsNothingOfTheStore() throws Exception {
        append(task.writer, "a");
        task.writer.nextSequenceNumber();
        append(task.writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> result = task.persist();
        assertThat(filesOf(remote(result))).allMatch(file -> file.startsWith("faulty:"));
        assertThat(filesOf(local(result))).hasSize(1).allMatch(file -> file.startsWith("file:"));
        assertThat(local(result).getKeyGroupRange()).isEqualTo(LogFixture.KEY_GROUPS);
        assertThat(local(result).getStateSize()).isEqualTo(remote(result).getStateSize());
        task.log.store().close();
        assertThat(texts(local(result))).containsExactly("a", "b");
        assertThat(task.log.metrics().count("numberOfLocalCopies")).isEqualTo(1);
    }

    @Test
    void switchedOff_thereIsNoLocalPart() throws Exception {
        task.open(new Configuration(), LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
        append(task.writer, "a");
        assertThat(task.persist().getTaskLocalSnapshot()).isNull();
    }

    @Test
    void slotOfTheFirstTask_takesNoCopiesWithIt() throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> result = task.persist();
        File slot = disks.resolve("disk").resolve("aid_0123").toFile();
        assertThat(slot).isDirectory();
        FileUtils.deleteDirectory(slot);
        assertThat(texts(local(result))).containsExactly("a");
    }

    @Test
    void severalDisks_takeTurns() throws Exception {
        task.open(new Configuration(), "one", "other");
        for (int i = 0; i < 4; i++) {
            append(task.writer, "a");
            task.persist();
        }
        assertThat(task.copiesBelow("one")).hasSize(2);
        assertThat(task.copiesBelow("other")).hasSize(2);
    }

    @Test
    void fullDisk_costsTheCopy_andNothingElse_untilItWorksAgain() throws Exception {
        append(task.writer, "before");
        task.persist();
        File job = disks.resolve("disk").resolve("dstl_jid_" + LogFixture.JOB_ID).toFile();
        File away = disks.resolve("away").toFile();
        assertThat(job.renameTo(away)).isTrue();
        assertThat(job.createNewFile()).as("no directory can be made there").isTrue();
        try (LogLines lines = new LogLines()) {
            SnapshotResult<ChangelogStateHandleStreamImpl> result = null;
            for (int i = 0; i < 3; i++) {
                append(task.writer, "during");
                result = task.persist();
            }
            assertThat(texts(remote(result)))
                    .containsExactly("before", "during", "during", "during");
            assertThat(filesOf(local(result)))
                    .as("copies as far as there are any")
                    .hasSize(4)
                    .filteredOn(file -> file.startsWith("file:"))
                    .hasSize(1);
            assertThat(task.log.metrics().count("numberOfLocalCopyFailures")).isEqualTo(3);
            assertThat(task.log.metrics().count("numberOfUploadFailures")).isZero();
            assertThat(lines.containing("local disk")).hasSize(1);

            assertThat(job.delete()).isTrue();
            assertThat(away.renameTo(job)).isTrue();
            append(task.writer, "after");
            result = task.persist();
            assertThat(texts(local(result))).isEqualTo(texts(remote(result)));
            assertThat(lines.containing("local disk"))
                    .hasSize(2)
                    .last()
                    .asString()
                    .startsWith("INFO State changes are copied to the local disk again");
        }
    }

    @Test
    void slowDisk_delaysNoCheckpoint() throws Exception {
        append(task.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = task.startPersist();
        assertThat(persist).isDone();
        assertThat(filesOf(local(persist.get()))).isEqualTo(filesOf(remote(persist.get())));
        task.disk.runAll();
        append(task.writer, "b");
        SnapshotResult<ChangelogStateHandleStreamImpl> later = task.persist();
        assertThat(filesOf(local(later)).get(0)).startsWith("file:");
        assertThat(texts(local(later))).containsExactly("a", "b");
    }

    @Test
    void diskThatHangs_doesNotFillTheMemory() throws Exception {
        task.open(
                new Configuration()
                        .set(DstlOptions.COMPRESSION_ENABLED, false)
                        .set(DstlOptions.MAX_AGE, Duration.ZERO),
                "disk");
        byte[] bytes = new byte[8 << 20];
        new Random(1).nextBytes(bytes);
        for (int i = 0; i < 10; i++) {
            SequenceNumber from = task.writer.nextSequenceNumber();
            task.writer.append(1, bytes);
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                    task.writer.persist(from, ++task.checkpoint);
            task.log.passLinger();
            assertThat(persist).isDone();
        }
        assertThat(task.disk.size()).as("copies that wait").isEqualTo(7);
        assertThat(task.log.metrics().count("numberOfLocalCopyFailures")).isEqualTo(3);
    }

    @Test
    void whatTravelsInTheHandle_isInTheLocalPartToo() throws Exception {
        task.open(
                new Configuration()
                        .set(DstlOptions.INLINE_THRESHOLD, new MemorySize(RecoverableTask.LARGE)),
                "disk");
        append(task.writer, "x".repeat(RecoverableTask.LARGE));
        task.persist();
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> result = task.persist();
        assertThat(local(result).getHandlesAndOffsets()).hasSize(2);
        assertThat(filesOf(local(result))).hasSize(1);
        assertThat(texts(local(result))).isEqualTo(texts(remote(result))).hasSize(2);
    }

    @Test
    void failingUpload_leavesTheCopyForTheUploadThatSucceeds() throws Exception {
        task.log.store().failNext(WriteFault.FAIL_ON_CLOSE);
        append(task.writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = task.startPersist();
        task.disk.runAll();
        task.log.timers().advanceMillis(1_000);
        assertThat(texts(local(persist.get()))).containsExactly("a");
        assertThat(task.copies()).hasSize(1);
    }
}
