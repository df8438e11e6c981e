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

package dev.dstl.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class InterruptionTest {

    @Test
    void withoutALauncher_nothingIsRequested() {
        try (Interruption interruption = new Interruption()) {
            assertThat(interruption.isRequested()).isFalse();
        }
    }

    /** With SIGKILL it cannot tell the process that deletes files. */
    @Test
    void launcherThatIsKilled_endsTheCommand() throws Exception {
        Process launcher =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "jshell")
                                        .toString())
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        System.setProperty(Interruption.LAUNCHER, String.valueOf(launcher.pid()));
        try (Interruption interruption = new Interruption()) {
            assertThat(interruption.isRequested()).isFalse();

            launcher.destroyForcibly().waitFor();

            assertThat(interruption.isRequested()).isTrue();
        } finally {
            System.clearProperty(Interruption.LAUNCHER);
            launcher.destroyForcibly();
        }
    }
}
