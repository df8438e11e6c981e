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

import static dev.dstl.log.local.RecoverableTask.assertCopied;
import static dev.dstl.log.testing.LogFixture.append;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.writer.DstlLogWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of segments are deleted when nobody needs them any more, and not before. */
class LocalCopyDeletionTest {

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
    void abortedCheckpoint_keepsTheCopies() throws Exception {
        append(task.writer, "a");
        task.persist();
        task.confirm();
        append(task.writer, "b");
        SequenceNumber to = task.writer.nextSequenceNumber();
        task.persist();
        task.writer.reset(task.writer.initialSequenceNumber(), to, task.checkpoint);
        task.disk.runAll();
        assertThat(task.copies()).hasSize(2);
    }

    @Test
    void truncatedSegment_keepsItsCopy_untilACheckpointWithoutItCompletes() throws Exception {
        append(task.writer, "a");
        SnapshotResult<ChangelogStateHandleStreamImpl> first = task.persist();
        SequenceNumber afterA = task.writer.nextSequenceNumber();
        task.confirm();
        task.writer.truncate(afterA);
        task.disk.runAll();
        assertCopied(first, "a");

        append(task.writer, "b");
        task.persistFrom(afterA);
        task.disk.runAll();
        assertThat(task.copies()).hasSize(2);
        task.confirm();
        task.disk.runAll();
        assertThat(task.copies()).hasSize(1);
    }

    @Test
    void copyOfASegmentThatNoCheckpointContains_goesWithIt() {
        append(task.writer, "x".repeat(2 * RecoverableTask.LARGE));
        task.log.passLinger();
        task.disk.runAll();
        assertThat(task.copies()).hasSize(1);
        task.writer.truncate(task.writer.nextSequenceNumber());
        task.disk.runAll();
        assertThat(task.copies()).isEmpty();
    }

    @Test
    void copyThatIsCompleteWhenNobodyNeedsItAnyMore_isDeleted() {
        append(task.writer, "x".repeat(2 * RecoverableTask.LARGE));
        task.log.passLinger();
        task.writer.close();
        task.disk.runAll();
        assertThat(task.copies()).isEmpty();
    }

    @Test
    void copiesOfAnotherJob_areLeft_whileFlinkHasLocalStateOfTheJobOnAnyDisk() throws Exception {
        String job = "00000000000000000000000000000007";
        Path died =
                Files.createDirectories(
                        disks.resolve("other")
                                .resolve("dstl_jid_" + job)
                                .resolve("0000000000000-0000000000000001"));
        Path ofFlink =
                Files.createDirectories(
                        disks.resolve("one").resolve("aid_4567").resolve("jid_" + job));

        task.open(new Configuration(), "one", "other");
        assertThat(died).as("the local state may refer to copies on every disk").exists();

        Files.delete(ofFlink);
        task.open(new Configuration(), "one", "other");
        assertThat(died).doesNotExist();
    }

    @Test
    void taskThatMovedToAnotherTaskManager_leavesNoCopiesForEver() throws Exception {
        DstlLogWriter other = task.log.writerOf("other");
        append(task.writer, "a");
        task.persist();
        task.confirm();
        task.writer.close();
        task.disk.runAll();
        assertThat(task.copies()).hasSize(1);
        append(other, "b");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                other.persist(other.initialSequenceNumber(), ++task.checkpoint);
        task.log.passLinger();
        assertThat(persist).isDone();
        other.confirm(other.initialSequenceNumber(), other.nextSequenceNumber(), task.checkpoint);
        task.disk.runAll();
        assertThat(task.copies()).hasSize(1);
        other.close();
    }

    @Test
    void endOfTheJob_leavesNothing_notEvenOfAProcessThatDied() throws Exception {
        Path job = disks.resolve("disk").resolve("dstl_jid_" + LogFixture.JOB_ID);
        Path died = Files.createDirectories(job.resolve("0000000000000-0000000000000001"));
        Files.createFile(died.resolve("1.seg"));
        Path otherJob = Files.createDirectories(disks.resolve("disk").resolve("dstl_jid_other"));
        task.open(new Configuration(), "disk");
        append(task.writer, "a");
        task.persist();
        task.log.close();
        task.disk.runAll();
        assertThat(job).doesNotExist();
        assertThat(otherJob).exists();
    }
}
