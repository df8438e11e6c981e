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

package dev.dstl.endtoend.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Prometheus itself says which alerts fire when; only where its {@code promtool} is installed. */
class AlertBehaviourTest {

    private static final Path DIRECTORY =
            Documentation.ROOT.resolve("flink-changelog-end-to-end-tests/src/test/prometheus");

    @Test
    void alertsFireWhenTheyShould_andOnlyThen() throws Exception {
        Process promtool = start("promtool", "test", "rules", "dstl-rules-test.yml");
        String printed =
                new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(promtool.waitFor()).as(printed).isZero();
    }

    private static Process start(String... command) {
        try {
            return new ProcessBuilder(command)
                    .directory(DIRECTORY.toFile())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException notInstalled) {
            return abort(notInstalled.getMessage());
        }
    }
}
