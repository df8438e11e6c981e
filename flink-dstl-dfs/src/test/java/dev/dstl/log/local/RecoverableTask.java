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

import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/**
 * A task with local recovery, whose local disk works when the test says so. Copies are complete
 * before a segment is uploaded, unless the test starts the persist only.
 */
final class RecoverableTask implements AutoCloseable {

    static final int LARGE = 1 << 10;

    private static final String OPERATOR = "operator";

    final ManualExecutor disk = new ManualExecutor();
    LogFixture log;
    DstlLogWriter writer;

    /** Id of the latest checkpoint. */
    long checkpoint;

    private final Path disks;

    /** Starts the task on one disk. */
    RecoverableTask(Path disks) {
        this.disks = disks;
        open(new Configuration(), "disk");
    }

    /** Starts the task anew, on disks in the given directories. */
    void open(Configuration configuration, String... roots) {
        File[] slots = new File[roots.length];
        for (int i = 0; i < roots.length; i++) {
            slots[i] = disks.resolve(roots[i]).resolve("aid_0123").toFile();
        }
        open(
                configuration.set(
                        DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD, new MemorySize(2 * LARGE)),
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(
                                slots, LogFixture.JOB_ID, new JobVertexID(), 0)));
    }

    void open(Configuration configuration, LocalRecoveryConfig recovery) {
        if (log != null) {
            close();
        }
        log = LogFixture.withLocalCopies(configuration, recovery, disk);
        writer = log.writerOf(OPERATOR);
        disk.runAll();
    }

    /** Starts the task again on the same TaskManager. */
    void start() {
        writer = log.writerOf(OPERATOR);
    }

    /** Ends the task and starts it again on the same TaskManager. */
    void restart() {
        writer.close();
        start();
    }

    /** A copy of this job that a process left which has ended. */
    Path copyOfAnEarlierProcess() throws IOException {
        Path died =
                Files.createDirectories(
                        disks.resolve("disk")
                                .resolve("dstl_jid_" + LogFixture.JOB_ID)
                                .resolve("0000000000000-0000000000000001"));
        Files.createFile(died.resolve("1.seg"));
        return died;
    }

    /** Takes a checkpoint of the whole changelog. */
    SnapshotResult<ChangelogStateHandleStreamImpl> persist() throws Exception {
        return persistFrom(SequenceNumber.of(0));
    }

    /** Takes a checkpoint. */
    SnapshotResult<ChangelogStateHandleStreamImpl> persistFrom(SequenceNumber from)
            throws Exception {
        log.store()
                .failBy(
                        path -> {
                            disk.runAll();
                            return WriteFault.NONE;
                        });
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(from, ++checkpoint);
        log.passLinger();
        assertThat(persist).isDone();
        return persist.get();
    }

    /** Begins a checkpoint whose copies are not written yet. */
    Future<SnapshotResult<ChangelogStateHandleStreamImpl>> startPersist() {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), ++checkpoint);
        log.passLinger();
        return persist;
    }

    /** The latest checkpoint is complete. */
    void confirm() {
        SequenceNumber to = writer.nextSequenceNumber();
        writer.confirm(to, to, checkpoint);
    }

    /** Asserts that the copies of a checkpoint are there: without them, originals are read. */
    static void assertCopied(SnapshotResult<ChangelogStateHandleStreamImpl> checkpoint, String text)
            throws Exception {
        assertThat(filesOf(local(checkpoint)))
                .hasSize(1)
                .allSatisfy(file -> assertThat(Path.of(URI.create(file))).exists());
        assertThat(texts(local(checkpoint))).containsExactly(text);
    }

    static ChangelogStateHandleStreamImpl remote(
            SnapshotResult<ChangelogStateHandleStreamImpl> result) {
        return result.getJobManagerOwnedSnapshot();
    }

    static ChangelogStateHandleStreamImpl local(
            SnapshotResult<ChangelogStateHandleStreamImpl> result) {
        return result.getTaskLocalSnapshot();
    }

    /** All copies on the only disk. */
    List<Path> copies() {
        return copiesBelow("disk");
    }

    List<Path> copiesBelow(String root) {
        try (Stream<Path> files = Files.walk(disks.resolve(root))) {
            return files.filter(file -> file.toString().endsWith(".seg"))
                    .collect(Collectors.toList());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        writer.close();
        log.close();
        disk.runAll();
    }
}
