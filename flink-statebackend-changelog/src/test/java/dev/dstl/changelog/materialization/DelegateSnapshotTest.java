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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.delegate.RocksDbFiles;
import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DelegateSnapshotTest {

    private static final int PATIENCE_SECONDS = 20;

    @TempDir Path store;

    private final Random random = new Random(1);

    private ThrowingRunnable<Exception> beforeCreate = () -> {};
    private ThrowingRunnable<Exception> beforeClose = () -> {};
    private ThrowingRunnable<Exception> afterClose = () -> {};
    private LoggedJob job;

    @AfterEach
    void closeJob() throws Exception {
        job.close();
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void cancelledAfterItHasClosedAFile_leavesNothing(Delegate.Kind kind) throws Exception {
        DelegateSnapshot snapshot = snapshot(kind);
        CountDownLatch written = new CountDownLatch(1);
        afterClose =
                () -> {
                    assertThat(files()).as("written").isNotEmpty();
                    written.countDown();
                    snapshot.cancel();
                };

        assertThatItIsCancelled(snapshot);
        snapshot.discard();

        assertThat(written.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThatNothingIsLeft();
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void discardedBeforeItClosesAFile_leavesNothing(Delegate.Kind kind) throws Exception {
        DelegateSnapshot snapshot = snapshot(kind);
        CountDownLatch written = new CountDownLatch(1);
        beforeClose =
                () -> {
                    snapshot.discard();
                    // Not every store heeds it.
                    Thread.interrupted();
                };
        afterClose = written::countDown;

        assertThatItIsCancelled(snapshot);

        assertThat(written.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThatNothingIsLeft();
    }

    /** The file is created only after the cancellation. */
    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void cancelledWhileItCreatesAFile_leavesNothing(Delegate.Kind kind) throws Exception {
        DelegateSnapshot snapshot = snapshot(kind);
        CountDownLatch created = new CountDownLatch(1);
        beforeCreate =
                () -> {
                    created.countDown();
                    snapshot.cancel();
                };

        assertThatItIsCancelled(snapshot);
        snapshot.discard();

        assertThat(created.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThatNothingIsLeft();
    }

    @Test
    void discarded_writesNothingAnyMore() throws Exception {
        DelegateSnapshot snapshot = snapshot(Delegate.Kind.HASH_MAP);

        snapshot.discard();

        assertThatItIsCancelled(snapshot);
        assertThat(files()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void cancelledAfterItHasHandedItsFilesOver_keepsThem(Delegate.Kind kind) throws Exception {
        DelegateSnapshot snapshot = snapshot(kind);
        MaterializedBase base = snapshot.base(snapshot.run());
        List<Path> files = files();
        assertThat(files).isNotEmpty();

        snapshot.cancel();

        assertThat(files()).isEqualTo(files);
        base.discard();
        assertThat(files()).isEmpty();
    }

    /** All files would otherwise be written and uploaded again at each materialization. */
    @Test
    void compactionThatSavedNothing_isNotRepeatedBeforeTheNextSnapshot() throws Exception {
        job = LoggedJob.start(Delegate.Kind.ROCKS_DB, InMemoryLog.withRecordKeys());
        DelegateSnapshots<?> snapshots = snapshots();
        RocksDbFiles files = new RocksDbFiles(job.backend());
        List<Boolean> compacted = new ArrayList<>();
        for (int key = 0; key < 2_800; key++) {
            job.at(key, "a");
            job.value.update(randomText(1_000));
            if (key % 700 == 699) {
                files.flush();
            }
            if (key % 1_400 == 1_399) {
                snapshots.flush().run();
                compacted.add(files.levelZero() == 0);
            }
        }

        assertThat(compacted).containsExactly(true, false);
    }

    private String randomText(int length) {
        return random.ints(length, ' ', '~')
                .mapToObj(Character::toString)
                .collect(Collectors.joining());
    }

    private DelegateSnapshot snapshot(Delegate.Kind kind) throws Exception {
        job = LoggedJob.start(kind, InMemoryLog.withRecordKeys());
        job.at(1, "a");
        job.value.update("v");
        SequenceNumber begin = job.log.writer().initialSequenceNumber();
        return snapshots()
                .startFull(
                        new BaseLedger(
                                new MaterializedBase(
                                        0, 0, begin, begin, StateParts.EMPTY, StateParts.EMPTY),
                                false));
    }

    private DelegateSnapshots<?> snapshots() {
        return new DelegateSnapshots<>(
                job.backend(),
                job.log.writer(),
                job.appender,
                job.registry,
                new HookedStreams(store),
                tooLate -> {});
    }

    /** The cancellation interrupts the running thread, which is that of the test. */
    private static void assertThatItIsCancelled(DelegateSnapshot snapshot) {
        try {
            assertThatThrownBy(snapshot::run).isInstanceOf(CancellationException.class);
        } finally {
            Thread.interrupted();
        }
    }

    /** Waits, because RocksDB does not wait for its upload threads. */
    private void assertThatNothingIsLeft() throws Exception {
        long start = System.nanoTime();
        while (!files().isEmpty()
                && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
            Thread.sleep(1);
        }
        assertThat(files()).isEmpty();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(store)) {
            return files.sorted().collect(Collectors.toList());
        }
    }

    /** Writes even the smallest file at once, and reports when it is created and closed. */
    private final class HookedStreams extends FsCheckpointStreamFactory {

        private final org.apache.flink.core.fs.Path directory;

        HookedStreams(Path directory) {
            this(new org.apache.flink.core.fs.Path(directory.toUri()));
        }

        private HookedStreams(org.apache.flink.core.fs.Path directory) {
            super(FileSystem.getLocalFileSystem(), directory, directory, 0, 0);
            this.directory = directory;
        }

        @Override
        public FsCheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) {
            return new FsCheckpointStateOutputStream(directory, new HookedFiles(), 1, 0) {
                @Override
                public StreamStateHandle closeAndGetHandle() throws IOException {
                    run(beforeClose);
                    StreamStateHandle handle = super.closeAndGetHandle();
                    run(afterClose);
                    return handle;
                }
            };
        }
    }

    private final class HookedFiles extends LocalFileSystem {

        @Override
        public FSDataOutputStream create(
                org.apache.flink.core.fs.Path file, FileSystem.WriteMode mode) throws IOException {
            run(beforeCreate);
            return super.create(file, mode);
        }
    }

    private static void run(ThrowingRunnable<Exception> hook) throws IOException {
        try {
            hook.run();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
