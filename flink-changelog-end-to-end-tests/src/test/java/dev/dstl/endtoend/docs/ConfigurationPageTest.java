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

    /** System property: write the page instead of comparing it. */
    private static final String WRITE = "dstl.docs.write";

    /** Longer descriptions belong on a page. */
    private static final int MAX_DESCRIPTION = 300;

    /** Descriptions of Flink's options, with what differs from its built-in changelog. */
    private static final Map<String, String> FLINKS_OPTIONS =
            Map.of(
                    "state.changelog.enabled",
                    "Whether keyed state has a changelog. A job may override the cluster.",
                    "state.changelog.storage",
                    "Changelog storage: `dstl`, or `filesystem`, which means the same with DSTL."
                            + " `memory` is Flink's and for tests only: it is rejected together"
                            + " with a durable checkpoint directory.",
                    "state.changelog.periodic-materialize.enabled",
                    "Whether the state is materialized from time to time. Without it the"
                            + " changelog grows until the job ends.",
                    "state.changelog.periodic-materialize.interval",
                    "Time between two materializations of a subtask; the first ones are spread"
                            + " over one interval. A shorter interval shortens the changelog and"
                            + " recovery, a longer one uploads fewer files of the delegate.",
                    "state.changelog.max-failures-allowed",
                    "Materializations of a subtask that may fail in a row; one more fails the"
                            + " task.");

    @Test
    void flinksOptionsAreAllDescribed() {
        assertThat(ConfigurationPage.optionsOf(StateChangelogOptions.class))
                .extracting(ConfigOption::key)
                .containsExactlyInAnyOrderElementsOf(FLINKS_OPTIONS.keySet());
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
    void everyOptionIsDescribedInFewWords() {
        assertThat(
                        Stream.of(
                                        DstlOptions.class,
                                        ChangelogBackendOptions.class,
                                        SpillableOptions.class)
                                .flatMap(type -> ConfigurationPage.optionsOf(type).stream()))
                .isNotEmpty()
                .allSatisfy(
                        option ->
                                assertThat(ConfigurationPage.descriptionOf(option))
                                        .as(option.key())
                                        .isNotBlank()
                                        .hasSizeLessThanOrEqualTo(MAX_DESCRIPTION));
    }

    private static String render() {
        return new ConfigurationPage(
                        "Configuration",
                        "Every option, generated from the code. Options that Flink has keep their"
                                + " keys and deprecated keys; descriptions say where default"
                                + " or meaning differ. Set them in the configuration of the"
                                + " cluster; a job may override Flink's options except the"
                                + " storage, and others that say so.")
                .section(
                        "Flink's options",
                        "Whether there is a changelog, where it is kept and when the state is"
                                + " materialized.",
                        StateChangelogOptions.class,
                        option -> FLINKS_OPTIONS.get(option.key()))
                .section(
                        "Changelog storage",
                        "A TaskManager reads these from the configuration that its process was"
                                + " started with, so [a change](deployment.md#changing-a-key) needs"
                                + " a restart of the TaskManagers, not only of the job.",
                        DstlOptions.class)
                .section(
                        "Changelog state backend",
                        "In addition to Flink's options. A job that sets one of those that may"
                                + " override the cluster takes"
                                + " [a change](deployment.md#changing-a-key) when it is submitted"
                                + " again.",
                        ChangelogBackendOptions.class)
                .section(
                        "Spillable heap",
                        "With `state.backend.type: dev.dstl.spillable.SpillableStateBackendFactory`."
                                + " [Spillable heap](spillable.md) explains how to choose them.",
                        SpillableOptions.class)
                .text();
    }
}
