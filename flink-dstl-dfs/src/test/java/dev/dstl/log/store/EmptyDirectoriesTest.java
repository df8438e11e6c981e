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

package dev.dstl.log.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualTimers;
import dev.dstl.log.testing.RecordedMetrics;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.util.function.SupplierWithException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmptyDirectoriesTest {

    private static final int OTHERS = 3;

    /** The limit of deletions. */
    private static final long LIMIT_MILLIS = 60_000;

    @TempDir private java.nio.file.Path base;

    private final FaultyStore store = FaultyStore.create();
    private final ManualTimers timers = new ManualTimers();
    private final HangingFileSystem files = new HangingFileSystem();

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void requestsThatHang_endAtTheLimitOfDeletions_eachForItself() throws Exception {
        SegmentRegistry registry =
                new SegmentRegistry(
                        new FileSystemSegmentStore(
                                store.basePath().getFileSystem(), store.basePath(), 1),
                        Runnable::run,
                        timers,
                        new DstlMetrics(new RecordedMetrics()));
        Path own = directory(0);
        for (int i = 1; i <= OTHERS; i++) {
            Files.createDirectories(java.nio.file.Path.of(directory(i).getPath()));
        }

        passTime(OTHERS, () -> EmptyDirectories.deleteSomeBeside(files, own, registry::inTime));
        passTime(1, () -> EmptyDirectories.deleteOfWriter(files, own, registry::inTime));
        files.listingHangs = true;
        passTime(1, () -> EmptyDirectories.deleteSomeBeside(files, own, registry::inTime));
    }

    /** The local file system deletes a link whatever the directory behind it contains. */
    @Test
    void aJobsDirectoryThatIsASymbolicLink_stays() throws Exception {
        java.nio.file.Path disk = Files.createDirectory(base.resolve("disk"));
        Files.createDirectory(disk.resolve("chk-1"));
        java.nio.file.Path writer = java.nio.file.Path.of(directory(1).getPath());
        java.nio.file.Path job = writer.getParent().getParent();
        Files.createDirectories(job.getParent());
        Files.createSymbolicLink(job, disk);
        Files.createDirectories(writer);

        assertThat(
                        EmptyDirectories.deleteOfWriter(
                                LocalFileSystem.getSharedInstance(),
                                directory(1),
                                new Path(base.toUri())))
                .isTrue();

        assertThat(writer.getParent()).doesNotExist();
        assertThat(job).isSymbolicLink();
        assertThat(job.resolve("chk-1")).exists();
    }

    @Test
    void aWritersDirectoryThatIsASymbolicLink_stays() throws Exception {
        java.nio.file.Path disk = Files.createDirectory(base.resolve("disk"));
        Files.createDirectory(disk.resolve("chk-1"));
        Files.createDirectories(java.nio.file.Path.of(directory(1).getPath()));
        java.nio.file.Path linked = java.nio.file.Path.of(directory(2).getPath());
        Files.createSymbolicLink(linked, disk);

        EmptyDirectories.deleteSomeBeside(
                LocalFileSystem.getSharedInstance(), directory(1), EmptyDirectoriesTest::noLimit);

        assertThat(linked).isSymbolicLink();
        assertThat(
                        EmptyDirectories.deleteOfWriter(
                                LocalFileSystem.getSharedInstance(),
                                directory(2),
                                new Path(base.toUri())))
                .isFalse();
        assertThat(linked).isSymbolicLink();
    }

    private static <T> T noLimit(Path path, SupplierWithException<T, IOException> request)
            throws IOException {
        return request.get();
    }

    private void passTime(int requests, Runnable deletion) throws InterruptedException {
        Thread thread = new Thread(deletion, "deletion");
        thread.setDaemon(true);
        thread.start();
        for (int i = 0; i < requests; i++) {
            assertThat(files.hanging.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            timers.advanceMillis(LIMIT_MILLIS);
        }
        thread.join(TimeUnit.SECONDS.toMillis(10));
        assertThat(thread.isAlive()).isFalse();
    }

    private Path directory(int writer) {
        return SegmentName.directory(
                new Path(base.toUri()),
                LogFixture.JOB_ID,
                SegmentName.incarnation(1_700_000_000_000L, writer));
    }

    /** Directories can be deleted, but that hangs until it is interrupted. */
    private static final class HangingFileSystem extends LocalFileSystem {

        private final Semaphore hanging = new Semaphore(0);
        private volatile boolean listingHangs;

        @Override
        public URI getUri() {
            return URI.create("hdfs://cluster/");
        }

        @Override
        public boolean delete(Path path, boolean recursive) throws IOException {
            hang();
            return true;
        }

        @Override
        public FileStatus[] listStatus(Path path) throws IOException {
            if (listingHangs) {
                hang();
            }
            return super.listStatus(path);
        }

        private void hang() throws IOException {
            hanging.release();
            try {
                Thread.sleep(TimeUnit.MINUTES.toMillis(1));
            } catch (InterruptedException e) {
                throw new InterruptedIOException("Interrupted");
            }
        }
    }
}
