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

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DashboardTest {

    private static final Path DASHBOARD = Documentation.ROOT.resolve("docs/grafana/dstl.json");
    private static final Pattern METRIC = Pattern.compile("\\bflink_\\w+");
    private static final Pattern AGGREGATION =
            Pattern.compile("\\b(?:sum|max|min|avg|count)\\b(?: by \\(([^)]*)\\))?");

    /** Metrics of Flink 1.20, registered by its CheckpointStatsTracker and its tasks. */
    static final Set<String> FLINKS =
            Set.of(
                    "flink_jobmanager_job_lastCheckpointDuration",
                    "flink_jobmanager_job_lastCheckpointSize",
                    "flink_jobmanager_job_lastCheckpointFullSize",
                    "flink_jobmanager_job_numberOfCompletedCheckpoints",
                    "flink_jobmanager_job_numberOfFailedCheckpoints",
                    "flink_taskmanager_job_task_" + MetricNames.CHANGELOG_BUSY_TIME);

    @TempDir Path basePath;

    @Test
    void everyMetricOfTheDashboardIsRegistered() throws Exception {
        Set<String> known = new TreeSet<>(RegisteredMetrics.exported(basePath));
        known.addAll(FLINKS);

        assertThat(known).containsAll(shown());
    }

    @Test
    void everyMetricThatTheReporterExportsIsShown() throws Exception {
        Set<String> exported = new TreeSet<>(RegisteredMetrics.exported(basePath));
        // Text, which Prometheus does not have.
        assertThat(exported.remove("flink_taskmanager_job_ChangelogStorage_version")).isTrue();

        assertThat(shown()).containsAll(exported);
    }

    private static Set<String> shown() throws Exception {
        Set<String> shown = new TreeSet<>();
        for (JsonNode query : dashboard().findValues("expr")) {
            Matcher matcher = METRIC.matcher(query.asText());
            while (matcher.find()) {
                shown.add(matcher.group());
            }
        }

        assertThat(shown).hasSizeGreaterThan(20);
        return shown;
    }

    @Test
    void everyQueryIsLimitedToTheChosenJob() throws Exception {
        assertThat(dashboard().findValues("expr"))
                .extracting(JsonNode::asText)
                .isNotEmpty()
                .allSatisfy(
                        query ->
                                assertThat(query)
                                        .contains(
                                                "{namespace=~\"$namespace\",job_name=~\"$job\","
                                                        + "job_id=~\"$job_id\""));
    }

    /** In a session cluster several jobs may have the same name. */
    @Test
    void jobsOfOneNameAreNotAddedUp() throws Exception {
        for (JsonNode query : dashboard().findValues("expr")) {
            Matcher sum = AGGREGATION.matcher(query.asText());
            while (sum.find()) {
                assertThat(sum.group(1))
                        .as(query.asText())
                        .isNotNull()
                        .matches("namespace, (job_id|tm_id)\\b.*|version");
            }
        }
    }

    @Test
    void jobsWithAChangelogAndJobsOnTheSpillableHeapCanBeChosen() throws Exception {
        List<String> variables =
                dashboard().get("templating").findValues("definition").stream()
                        .map(JsonNode::asText)
                        .collect(toList());

        assertThat(variables)
                .hasSize(3)
                .allSatisfy(
                        query ->
                                assertThat(query)
                                        .contains(
                                                "flink_taskmanager_job_ChangelogStorage_storeHealth",
                                                "flink_taskmanager_job_task_operator_spillable_"
                                                        + "heapEntries"));
    }

    @Test
    void panelsDoNotOverlapAndHaveTheirOwnIds() throws Exception {
        List<JsonNode> panels = new ArrayList<>();
        dashboard().get("panels").forEach(panels::add);

        assertThat(panels.stream().map(panel -> panel.get("id").asInt()).collect(toList()))
                .isNotEmpty()
                .doesNotHaveDuplicates();
        for (JsonNode panel : panels) {
            assertThat(panel.get("title").asText()).isNotEmpty();
            assertThat(panels)
                    .filteredOn(other -> !other.equals(panel))
                    .as("panels over %s", panel.get("title"))
                    .noneMatch(other -> overlap(panel.get("gridPos"), other.get("gridPos")));
        }
    }

    private static boolean overlap(JsonNode a, JsonNode b) {
        return overlap(a, b, "x", "w") && overlap(a, b, "y", "h");
    }

    private static boolean overlap(JsonNode a, JsonNode b, String from, String length) {
        int aFrom = a.get(from).asInt();
        int bFrom = b.get(from).asInt();
        return aFrom < bFrom + b.get(length).asInt() && bFrom < aFrom + a.get(length).asInt();
    }

    private static JsonNode dashboard() throws Exception {
        return new ObjectMapper().readTree(Documentation.text(DASHBOARD));
    }
}
