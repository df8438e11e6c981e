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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.commons.io.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of Flink's built-in changelog that are damaged or missing fail the restore. */
class BuiltInDamageTest {

    @TempDir private Path directory;

    @Test
    void truncatedFile_failsTheRestore_namingFileOffsetExpectedAndFound() throws Exception {
        FakeJobManager jobManager = oneRecordInAFile();
        Path file = onlyFile();
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 3));
        assertThatThrownBy(
                        () ->
                                TestTask.start(
                                        directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager))
                .hasMessageContaining("/" + file.getFileName() + ", byte ")
                .hasMessageContaining("expected a state change of")
                .hasMessageContaining("found the end of the file after")
                .hasMessageContaining("Restore from another checkpoint or savepoint");
        Files.write(file, bytes);
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            assertThat(task.value(1).value()).as("nothing was lost").isEqualTo("one");
        }
    }

    @Test
    void missingFile_failsTheRestore_sayingWhichAndWhatToDo() throws Exception {
        FakeJobManager jobManager = oneRecordInAFile();
        Path file = onlyFile();
        Files.delete(file);
        assertThatThrownBy(
                        () ->
                                TestTask.start(
                                        directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager))
                .hasMessageContaining(file.getFileName().toString())
                .hasMessageContaining("is gone")
                .hasMessageContaining("restore from another checkpoint or savepoint");
    }

    private FakeJobManager oneRecordInAFile() throws Exception {
        try (TestTask task =
                BuiltInLog.FILES.start(
                        directory, Delegate.HASHMAP, new FakeJobManager(), List.of())) {
            task.value(1).update("one");
            task.checkpoint(1);
            return task.jobManager;
        }
    }

    private Path onlyFile() throws Exception {
        List<Path> files =
                FileUtils.listFiles(directory.resolve("built-in").toFile(), null, true).stream()
                        .map(File::toPath)
                        .collect(Collectors.toList());
        assertThat(files).hasSize(1);
        return files.get(0);
    }
}
