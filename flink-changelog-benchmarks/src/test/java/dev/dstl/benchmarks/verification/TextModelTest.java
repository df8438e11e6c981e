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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextModelTest {

    @TempDir Path directory;

    @Test
    void wordsAreCountedByHand() throws Exception {
        Path file = directory.resolve("text");
        // Lines at byte offsets 0, 12 and 22; windows of 20 bytes.
        Files.writeString(file, "One two, one\n\u00c4rger 42.\nTwo");

        assertThat(new TextModel(file, 20).expectedRows())
                .hasSize(9)
                .containsEntry("window 0 one", "count=2")
                .containsEntry("window 0 two", "count=1")
                .containsEntry("window 0 \u00e4rger", "count=1")
                .containsEntry("window 0 42", "count=1")
                .containsEntry("window 1 two", "count=1")
                .containsEntry("word one", "count=2 windows=1 greatest=2 first=0 last=0")
                .containsEntry("word two", "count=2 windows=2 greatest=1 first=0 last=24")
                .containsEntry("word 42", "count=1 windows=1 greatest=1 first=13 last=13");
    }
}
