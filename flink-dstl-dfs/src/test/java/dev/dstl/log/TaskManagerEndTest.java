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

import static dev.dstl.log.testing.LogFixture.KEY_GROUPS;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.TaskManagerProcess.below;
import static dev.dstl.log.testing.TaskManagerProcess.segments;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.testing.ChildProcess;
import dev.dstl.log.testing.TaskManagerProcess;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.mailbox.SyncMailboxExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that TaskManagers leave in the store and on local disks when they stop or are killed. */
@Timeout(120)
class TaskManagerEndTest {

    private final JobID job = new JobID();

    @TempDir Path directory;

    private Path base() {
        return directory.resolve("log");
    }

    private Path local() {
        return directory.resolve("local");
    }

    @Test
    void processThatStops_leavesNoSegmentThatNoCheckpointContains() throws Exception {
        try (ChildProcess taskManager = start(local(), false)) {
            assertThat(segments(base())).isNotEmpty();
            taskManager.letGoOn();
        }
        assertThat(below(base())).isEmpty();
        assertThat(copies()).isEmpty();
    }

    @Test
    void processThatStops_leavesWhatACheckpointContains() throws Exception {
        try (ChildProcess taskManager = start(local(), true)) {
            taskManager.letGoOn();
        }
        assertThat(segments(base())).hasSize(1);
    }

    @Test
    void endOfTheJob_leavesNoDirectory() throws Exception {
        DstlStorage storage = TaskManagerProcess.storage(base(), local(), job);
        ChangelogWriter writer = writer(storage);
        append(writer);
        writer.nextSequenceNumber();
        await(() -> !segments(base()).isEmpty());
        writer.close();
        storage.close();
        await(() -> below(base()).isEmpty());
    }

    @Test
    void emptyDirectoryOfAWriterThatIsGone_goesWhenAnotherBegins() throws Exception {
        Path log = base().resolve(job.toHexString()).resolve("dstl");
        Path empty = Files.createDirectories(log.resolve("1700000000000-0000000000000001"));
        Path used = Files.createDirectories(log.resolve("1700000000000-0000000000000002"));
        Files.createFile(used.resolve("0000000001-1.seg"));
        DstlStorage storage = TaskManagerProcess.storage(base(), local(), job);
        ChangelogWriter writer = writer(storage);
        await(() -> !Files.exists(empty));
        assertThat(used.resolve("0000000001-1.seg")).exists();
        writer.close();
        storage.close();
    }

    @Test
    void endOfTheJob_leavesTheDirectoryOfASegmentInACheckpoint() throws Exception {
        DstlStorage storage = TaskManagerProcess.storage(base(), local(), job);
        DstlStorage other = TaskManagerProcess.storage(base(), local(), job);
        ChangelogWriter writer = writer(storage);
        ChangelogWriter otherWriter = writer(other);
        append(writer);
        handleOf(writer.persist(writer.initialSequenceNumber(), 1));
        append(otherWriter);
        otherWriter.nextSequenceNumber();
        await(() -> segments(base()).size() == 2);
        otherWriter.close();
        other.close();
        writer.close();
        storage.close();
        Path dstl = base().resolve(job.toHexString()).resolve("dstl");
        await(() -> dstl.toFile().list().length == 1);
        assertThat(segments(base())).hasSize(1);
    }

    @Test
    void taskManagerThatLeaves_doesNotDeleteTheCopiesOfAnotherOneInItsProcess() throws Exception {
        DstlStorage first = TaskManagerProcess.storage(base(), local(), job);
        ChangelogWriter writer = writer(first);
        append(writer);
        handleOf(writer.persist(writer.initialSequenceNumber(), 1));
        await(() -> segments(local()).size() == 1);

        startAndEnd();

        assertThat(segments(local())).hasSize(1);
        writer.close();
        first.close();
        await(() -> copies().isEmpty());
    }

    @Test
    void taskManagerThatLeaves_doesNotDeleteTheCopiesOfAnotherProcess() throws Exception {
        try (ChildProcess taskManager = start(local(), true)) {
            assertThat(taskManager.isAlive()).isTrue();
            startAndEnd();
            assertThat(segments(local())).as("of the process that lives").hasSize(1);
            // Once more, as looking at a lock must not unlock it.
            startAndEnd();
            assertThat(segments(local())).as("of the process that lives").hasSize(1);
        }
        startAndEnd();
        await(() -> copies().isEmpty());
    }

    @Test
    void whatAProcessThatDiedLeftOfAnotherJob_isDeletedAtStart_unlessItMayRecover()
            throws Exception {
        JobID dead = new JobID();
        startOf(dead, local(), true).close();
        assertThat(segments(local())).hasSize(1);
        Path ofFlink = Files.createDirectories(local().resolve("aid_4567/jid_" + dead));

        startAndEnd();
        assertThat(segments(local())).as("its tasks may come back").hasSize(1);

        Files.delete(ofFlink);
        DstlStorage storage = TaskManagerProcess.storage(base(), local(), job);
        ChangelogWriter writer = writer(storage);
        await(() -> !Files.exists(local().resolve("dstl_jid_" + dead)));
        writer.close();
        storage.close();
    }

    /**
     * Starts a TaskManager of the same job on the same disk; returns when its deletions are done.
     */
    private void startAndEnd() throws Exception {
        Set<Thread> before = localDiskThreads();
        int copies = segments(local()).size();
        DstlStorage storage = TaskManagerProcess.storage(base(), local(), job);
        ChangelogWriter writer = writer(storage);
        append(writer);
        handleOf(writer.persist(writer.initialSequenceNumber(), 1));
        await(() -> segments(local()).size() > copies);
        writer.close();
        storage.close();
        for (Thread thread : localDiskThreads()) {
            if (!before.contains(thread)) {
                thread.join();
            }
        }
    }

    private static Set<Thread> localDiskThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("dstl-local"))
                .collect(Collectors.toSet());
    }

    /** DSTL's files on the local disk. */
    private List<Path> copies() {
        return below(local()).stream()
                .filter(file -> file.toString().contains("dstl_jid_"))
                .collect(Collectors.toList());
    }

    private ChildProcess start(Path disk, boolean checkpoint) throws Exception {
        return startOf(job, disk, checkpoint);
    }

    private ChildProcess startOf(JobID jobId, Path disk, boolean checkpoint) throws Exception {
        return new ChildProcess(
                TaskManagerProcess.class,
                base().toString(),
                disk.toString(),
                jobId.toHexString(),
                Boolean.toString(checkpoint));
    }

    private static ChangelogWriter writer(DstlStorage storage) {
        return storage.createWriter("operator", KEY_GROUPS, new SyncMailboxExecutor());
    }

    private static void append(ChangelogWriter writer) throws Exception {
        writer.append(1, "a".getBytes(StandardCharsets.UTF_8));
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain").isLessThan(deadline);
            Thread.sleep(5);
        }
    }
}
