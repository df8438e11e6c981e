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

package dev.dstl.benchmarks.workload.words;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextInputTest {

    @Test
    void fileThatBecameShorter_failsTheTask(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("text");
        Files.writeString(file, "a line and another");

        TextInput input = new TextInput(file, 1000);

        assertThatThrownBy(() -> input.read(0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("became shorter");
    }
}
