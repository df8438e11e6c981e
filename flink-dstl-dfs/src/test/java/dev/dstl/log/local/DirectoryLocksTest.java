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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryLocksTest {

    @TempDir private Path job;

    /** Each segment tries again, so a channel per try would use up the files of the process. */
    @Test
    void whereTheFileSystemHasNoLocks_noFileStaysOpen() throws IOException {
        File directory = job.resolve("incarnation").toFile();
        AtomicReference<FileChannel> opened = new AtomicReference<>();
        assertThatThrownBy(
                        () ->
                                DirectoryLocks.own(
                                        directory,
                                        channel -> {
                                            opened.set(channel);
                                            throw new IOException("No locks available");
                                        }))
                .hasMessage("No locks available");
        assertThat(opened.get().isOpen()).isFalse();

        DirectoryLocks.own(directory);
        DirectoryLocks.deleteOwn(directory);
        assertThat(job).isEmptyDirectory();
    }

    /** Copies of all jobs of the process lock directories before they are written. */
    @Test
    void deletionThatTakesLong_holdsUpNoOtherDirectory_andIsNotMadeTwice() throws Exception {
        File dead = Files.createDirectory(job.resolve("dead")).toFile();
        Files.createFile(job.resolve("dead" + DirectoryLocks.SUFFIX));
        File other = job.resolve("other").toFile();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            AtomicInteger deletions = new AtomicInteger();
            DirectoryLocks.deleteIfDead(
                    dead,
                    directory -> {
                        deletions.incrementAndGet();
                        await(threads.submit(() -> own(other)));
                        await(
                                threads.submit(
                                        () -> {
                                            DirectoryLocks.deleteIfDead(dead);
                                            return directory.exists();
                                        }));
                        FileUtils.deleteDirectory(directory);
                    });
            assertThat(deletions).hasValue(1);
        } finally {
            threads.shutdownNow();
        }
        DirectoryLocks.deleteOwn(other);
        assertThat(job).isEmptyDirectory();
    }

    private static boolean own(File directory) throws IOException {
        DirectoryLocks.own(directory);
        return true;
    }

    private static void await(Future<Boolean> result) throws IOException {
        try {
            assertThat(result.get(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IOException(e);
        }
    }

    /** Otherwise the next storage of the process takes the directory for one in use. */
    @Test
    void directoryThatCannotBeDeleted_hasNoOwnerAnyMore_andIsDeletedLater() throws IOException {
        File directory = job.resolve("incarnation").toFile();
        DirectoryLocks.own(directory);
        Files.writeString(directory.toPath(), "no directory, so deleting it as one fails");
        assertThatThrownBy(() -> DirectoryLocks.deleteOwn(directory))
                .isInstanceOf(IOException.class);
        Files.delete(directory.toPath());
        Files.createDirectory(directory.toPath());

        DirectoryLocks.deleteIfDead(directory);

        assertThat(job).isEmptyDirectory();
    }
}
