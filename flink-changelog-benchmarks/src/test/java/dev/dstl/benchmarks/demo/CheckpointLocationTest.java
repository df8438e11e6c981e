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

package dev.dstl.benchmarks.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointLocationTest {

    @TempDir Path directory;

    @Test
    void directory_becomesAUri_withStrangeCharactersEscaped() {
        CheckpointLocation location = CheckpointLocation.local(directory.resolve("a b"));

        assertThat(location.resolve("run").uri())
                .isEqualTo("file://" + directory.toUri().getRawPath() + "a%20b/run");
    }

    @Test
    void remotePlace_getsASubfolderPerRun() {
        CheckpointLocation location = CheckpointLocation.remote("s3://bucket/path/");

        assertThat(location.resolve("run").uri()).isEqualTo("s3://bucket/path/run");
        assertThat(location.directory()).isEmpty();
    }

    @Test
    void directoryThatDoesNotExist_isCreated() throws Exception {
        CheckpointLocation.local(directory.resolve("a/b")).prepare();

        assertThat(directory.resolve("a/b")).isEmptyDirectory();
    }

    @Test
    void placeThatIsAFile_isRefusedBeforeAnythingStarts() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));

        assertThatThrownBy(() -> CheckpointLocation.local(file).prepare())
                .isInstanceOf(DemoFailure.class)
                .hasMessageContaining("--checkpoints must name a directory that can be written")
                .hasMessageContaining(file.toString());
    }
}
