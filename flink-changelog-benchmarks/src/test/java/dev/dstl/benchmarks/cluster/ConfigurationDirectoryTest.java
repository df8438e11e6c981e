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

package dev.dstl.benchmarks.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationDirectoryTest {

    @TempDir Path directory;

    @Test
    void flinkReadsWhatWasWritten() throws Exception {
        Configuration written = new Configuration();
        written.setString("state.changelog.enabled", "true");
        written.setString("s3.secret-key", "it's: #a {strange} \\ key");
        written.setString("env.java.opts.all", "-Da=\"b\"");

        ConfigurationDirectory.write(directory, written);

        assertThat(GlobalConfiguration.loadConfiguration(directory.toString()).toMap())
                .containsAllEntriesOf(written.toMap());
    }

    @Test
    void onlyTheOwnerMayReadIt() throws Exception {
        ConfigurationDirectory.write(directory, new Configuration());

        assertThat(Files.getPosixFilePermissions(directory.resolve("config.yaml")))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }
}
