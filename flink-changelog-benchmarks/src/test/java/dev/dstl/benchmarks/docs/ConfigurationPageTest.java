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

package dev.dstl.benchmarks.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.config.ChangelogBackendOptions;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.spillable.config.SpillableOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.StateChangelogOptions;
import org.junit.jupiter.api.Test;

class ConfigurationPageTest {

    private static final Path PAGE = Paths.get("..", "docs", "configuration.md");

    /** Set to write the page instead of comparing it. */
    private static final String WRITE = "dstl.docs.write";

    /** In our words, with what differs here from Flink's own backend. */
    private static final Map<String, String> FLINKS_SWITCHES =
            Map.of(
                    "state.changelog.enabled",
                    "Whether keyed state gets a changelog. What a job sets wins over the cluster.",
                    "state.changelog.storage",
                    "Where the log is kept: `dstl`, or `filesystem`, which means the same here."
                            + " `memory` is Flink's and only for tests: with a durable checkpoint"
                            + " directory it is refused.",
                    "state.changelog.periodic-materialize.enabled",
                    "Whether a new base is taken from time to time. Without it the log grows until"
                            + " the job ends.",
                    "state.changelog.periodic-materialize.interval",
                    "Pause between two materializations of a subtask; the first ones are spread"
                            + " over one interval. Shorter means a smaller log and a faster"
                            + " recovery, longer means fewer uploads of the delegate's files.",
                    "state.changelog.max-failures-allowed",
                    "How many materializations of a subtask may fail in a row; one more fails the"
                            + " task.");

    @Test
    void flinksSwitchesAreAllDescribed() {
        assertThat(ConfigurationPage.optionsOf(StateChangelogOptions.class))
                .extracting(ConfigOption::key)
                .containsExactlyInAnyOrderElementsOf(FLINKS_SWITCHES.keySet());
    }

    @Test
    void pageSaysWhatTheOptionsSay() throws IOException {
        String expected = render();
        if (Boolean.getBoolean(WRITE)) {
            Files.writeString(PAGE, expected);
        }
        assertThat(Files.readString(PAGE, StandardCharsets.UTF_8))
                .as("docs/configuration.md is stale; CONTRIBUTING.md says how to write it again")
                .isEqualTo(expected);
    }

    @Test
    void everyOptionIsDescribed() {
        assertThat(
                        Stream.of(
                                        DstlOptions.class,
                                        ChangelogBackendOptions.class,
                                        SpillableOptions.class)
                                .flatMap(type -> ConfigurationPage.optionsOf(type).stream()))
                .isNotEmpty()
                .allSatisfy(option -> assertThat(option.description().getBlocks()).isNotEmpty());
    }

    private static String render() {
        return new ConfigurationPage(
                        "Configuration",
                        "Generated from the options in the code; a test fails when this page is"
                                + " stale. Keys that Flink has keep their names, their deprecated"
                                + " spellings and their meaning. They go into the configuration of"
                                + " the cluster; *Flink's switches*, except the storage, may also be set per"
                                + " job, and the job wins.")
                .section(
                        "Flink's switches",
                        "They say whether there is a changelog, where it is kept and when the"
                                + " base moves on.",
                        StateChangelogOptions.class,
                        option -> FLINKS_SWITCHES.get(option.key()))
                .section(
                        "The log",
                        "Read by the TaskManagers when the first task with a changelog starts.",
                        DstlOptions.class)
                .section(
                        "The wrapper",
                        "Ours, beside Flink's switches.",
                        ChangelogBackendOptions.class)
                .section(
                        "The spillable heap",
                        "With `state.backend.type: dev.dstl.spillable.SpillableStateBackendFactory`."
                                + " [Spillable heap](spillable.md) says how to choose them.",
                        SpillableOptions.class)
                .text();
    }
}
