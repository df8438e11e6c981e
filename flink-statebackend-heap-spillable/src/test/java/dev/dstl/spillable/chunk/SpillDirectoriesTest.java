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

package dev.dstl.spillable.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpillDirectoriesTest {

    /** What Linux allows. */
    private static final int LONGEST_PATH = 4095;

    private static final int NAME_LENGTH = "dstl-spill-".length() + 36 + 1 + 36 + ".new".length();

    @TempDir Path disk;

    private static List<String> namesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(f -> f.getFileName().toString()).sorted().collect(Collectors.toList());
        }
    }

    @Test
    void close_removesItsDirectoryAndNothingElse() throws Exception {
        Files.createFile(disk.resolve("somebody else's"));

        new SpillDirectories(Collections.singletonList(disk)).close();

        assertThat(namesIn(disk)).containsExactly("somebody else's");
    }

    @Test
    void aDirectoryThatCannotBeLocked_isRemoved() throws Exception {
        Path deep = disk;
        while (deep.toString().length() < LONGEST_PATH - NAME_LENGTH - 250) {
            deep = deep.resolve("d".repeat(200));
        }
        // The directory still has a legal path, its lock has not.
        int missing = LONGEST_PATH - NAME_LENGTH - 2 - deep.toString().length();
        Path disks = Files.createDirectories(deep.resolve("d".repeat(missing)));

        assertThatThrownBy(() -> new SpillDirectories(Collections.singletonList(disks)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("No directory to spill state to is usable");

        assertThat(disks).isEmptyDirectory();
    }

    @Test
    void leftoversOfAKilledProcess_areRemovedAtTheNextStart() throws Exception {
        Path leftover = Files.createDirectory(disk.resolve("dstl-spill-killed"));
        Files.createFile(leftover.resolve("owner.lock"));
        Files.write(leftover.resolve("chunk-0"), new byte[] {1, 2, 3});

        SpillDirectories.prepare(Collections.singletonList(disk));

        assertThat(leftover).doesNotExist();
    }

    @Test
    void aLeftoverWithoutALock_isRemovedOnlyWhenNobodyCanBeAboutToLockIt() throws Exception {
        Path fresh = Files.createDirectory(disk.resolve("dstl-spill-fresh.new"));
        Path old = Files.createDirectory(disk.resolve("dstl-spill-old.new"));
        Path corrupted = Files.createDirectory(disk.resolve("dstl-spill-corrupted"));
        Files.createDirectory(corrupted.resolve("owner.lock"));
        Files.setLastModifiedTime(old, FileTime.fromMillis(1));
        Files.setLastModifiedTime(corrupted, FileTime.fromMillis(1));

        SpillDirectories.prepare(Collections.singletonList(disk));

        assertThat(namesIn(disk)).containsExactly(fresh.getFileName().toString());
    }

    @Test
    void whatIsInUse_isNoLeftover() throws Exception {
        try (SpillDirectories used = new SpillDirectories(Collections.singletonList(disk))) {
            SpillDirectories.prepare(Collections.singletonList(disk));

            assertThat(used.directories().get(0).path().resolve("owner.lock")).exists();
        }
    }

    @Test
    void whatIsInUse_isLeftAloneByAnotherProcess_alsoAfterASecondBackendHasStartedInThisOne()
            throws Exception {
        try (SpillDirectories used = new SpillDirectories(Collections.singletonList(disk))) {
            SpillDirectories.prepare(Collections.singletonList(disk));

            Process other =
                    new ProcessBuilder(
                                    Paths.get(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    AnotherProcess.class.getName(),
                                    disk.toString())
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            assertThat(other.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(other.exitValue()).isZero();

            assertThat(used.directories().get(0).path()).isDirectory();
        }
    }

    /** Starts a backend that looks at a disk. */
    static final class AnotherProcess {

        private AnotherProcess() {}

        public static void main(String[] args) throws IOException {
            SpillDirectories.prepare(Collections.singletonList(Paths.get(args[0])));
        }
    }

    @Test
    void close_goesOnWithTheOtherDisks_ifADirectoryCannotBeDeleted() throws Exception {
        Path first = Files.createDirectory(disk.resolve("first"));
        Path second = Files.createDirectory(disk.resolve("second"));
        SpillDirectories directories = new SpillDirectories(Arrays.asList(first, second));
        Path replaced = directories.directories().get(0).path();
        FileUtils.deleteDirectory(replaced.toFile());
        Files.createFile(replaced);

        assertThatThrownBy(directories::close)
                .isInstanceOf(IOException.class)
                .hasMessageContaining(replaced.toString());

        assertThat(second).isEmptyDirectory();
    }

    @Test
    void aMissingDirectory_isMade() throws Exception {
        Path missing = disk.resolve("not").resolve("there");

        SpillDirectories.prepare(Collections.singletonList(missing));

        assertThat(missing).isDirectory();
    }

    @Test
    void twoBackendsInOneProcess_leaveEachOtherAlone() throws Exception {
        try (SpillDirectories first = new SpillDirectories(Collections.singletonList(disk));
                SpillDirectories second = new SpillDirectories(Collections.singletonList(disk))) {
            assertThat(first.directories().get(0).path()).exists();
            assertThat(second.directories().get(0).path()).exists();
        }
        assertThat(namesIn(disk)).isEmpty();
    }

    @Test
    void anUnusableDirectory_isLeftOutIfAnotherWorks() throws Exception {
        Path file = Files.createFile(disk.resolve("a file"));

        try (SpillDirectories directories = new SpillDirectories(Arrays.asList(file, disk))) {
            assertThat(directories.directories()).hasSize(1);
        }
    }

    @Test
    void noUsableDirectory_saysWhichWereTriedAndWhatToSet() throws Exception {
        List<Path> files = Collections.singletonList(Files.createFile(disk.resolve("a file")));

        for (ThrowingCallable attempt :
                Arrays.<ThrowingCallable>asList(
                        () -> SpillDirectories.prepare(files), () -> new SpillDirectories(files))) {
            assertThatThrownBy(attempt)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(files.toString())
                    .hasMessageContaining("Name writable directories")
                    .hasMessageContaining("state.backend.spillable.directories");
        }
    }
}
