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

package dev.dstl.log.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleaseTest {

    @Test
    void buildFillsInWhatIsRunning() {
        Release release = Release.current();

        assertThat(release.version()).matches("[0-9]+\\.[0-9]+\\.[0-9]+(-SNAPSHOT)?");
        assertThat(release.commit()).matches("[0-9a-f]{12,}(-dirty)?|unknown");
        assertThat(release.flinkLine()).matches("[0-9]+\\.[0-9]+");
    }

    @Test
    void whatIsMissing_isUnknown(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("release.properties"), "version=1.2.3\n");

        assertThat(Release.at(file.toUri().toURL()))
                .hasToString("1.2.3 (commit unknown, for Flink unknown)");
    }
}
