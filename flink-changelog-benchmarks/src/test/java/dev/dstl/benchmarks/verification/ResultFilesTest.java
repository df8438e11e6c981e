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

package dev.dstl.benchmarks.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFilesTest {

    @TempDir Path directory;

    @Test
    void committedFiles_areRead_andUncommittedOnesAreNot() throws Exception {
        Files.writeString(directory.resolve("part-1"), "a\nb\n");
        Files.createDirectories(directory.resolve("bucket"));
        Files.writeString(directory.resolve("bucket").resolve("part-2"), "c\n");
        Files.writeString(directory.resolve(".part-3.inprogress.x"), "never\n");
        List<String> rows = new ArrayList<>();

        new ResultFiles(directory).forEachRow(rows::add);

        assertThat(rows).containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    void missingDirectory_hasNoRows() throws Exception {
        List<String> rows = new ArrayList<>();

        new ResultFiles(directory.resolve("none")).forEachRow(rows::add);

        assertThat(rows).isEmpty();
    }
}
