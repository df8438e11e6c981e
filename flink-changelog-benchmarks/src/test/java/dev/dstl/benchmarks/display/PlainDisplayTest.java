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

package dev.dstl.benchmarks.display;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PlainDisplayTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @Test
    void pipe_getsNoControlCharactersAndNoFloodOfLines() {
        try (PlainDisplay display = new PlainDisplay(new PrintStream(bytes, true))) {
            for (int i = 0; i < 1000; i++) {
                display.progress(i / 1000.0, "going on");
            }
            display.say("a line that stays");
        }

        assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo("a line that stays\n");
    }
}
