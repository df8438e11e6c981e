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

import dev.dstl.log.config.DstlOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.StateChangelogOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rules file for Prometheus agrees with the table of alerts on the operations page. */
class AlertRulesTest {

    private static final Path RULES = Documentation.ROOT.resolve("docs/prometheus/dstl-rules.yml");

    /** Their thresholds depend on the size and the checkpoint interval of a job. */
    private static final Set<String> WITHOUT_RULE =
            Set.of("lastFullSizeOfNonMaterialization", "uncheckpointedSegments");

    private static final Pattern METRIC = Pattern.compile("\\bflink_\\w+");
    private static final Pattern INCREASE = Pattern.compile("increase\\((\\w+)\\[(\\w+)]\\)");
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");
    private static final Pattern FOR = Pattern.compile("for (\\d+) min");
    private static final Pattern INTERVALS = Pattern.compile("for (\\d+)(?: intervals)?(?::|$)");
    private static final Pattern THRESHOLD = Pattern.compile("^(>=|>|<|)\\s*([\\d.]+)( %| s)?");

    /** One cell of the table: a metric, and when to warn or to page. */
    private static final class Alert {
        final String metric;
        final String severity;
        final String condition;

        Alert(String metric, String severity, String condition) {
            this.metric = metric;
            this.severity = severity;
            this.condition = condition;
        }

        @Override
        public String toString() {
            return metric + ", " + severity + ": " + condition;
        }
    }

    @TempDir private Path basePath;

    @Test
    void everyCellOfTheTableHasARuleThatSaysTheSame() {
        List<Alert> alerts = alerts();
        assertThat(alerts).hasSizeGreaterThan(20);
        for (Alert alert : alerts) {
            List<Map<String, Object>> rules =
                    rules().stream()
                            .filter(rule -> alert.metric.equals(annotation(rule, "metric")))
                            .filter(rule -> alert.severity.equals(severity(rule)))
                            .collect(toList());
            assertThat(rules).as("%s", alert).hasSize(1);
            assertSame(alert, rules.get(0));
        }
        assertThat(rules()).hasSameSizeAs(alerts);
    }

    @Test
    void everyRuleIsAboutMetricsThatAreRegistered() throws Exception {
        Set<String> known = new TreeSet<>(RegisteredMetrics.exported(basePath));
        known.addAll(DashboardTest.FLINKS);

        for (Map<String, Object> rule : rules()) {
            List<String> metrics =
                    METRIC.matcher((String) rule.get("expr"))
                            .results()
                            .map(match -> match.group())
                            .collect(toList());
            assertThat(metrics).as("%s", rule).isNotEmpty();
            assertThat(known).as("%s", rule).containsAll(metrics);
        }
    }

    /** Otherwise each start and each end of a task or a job would raise an alert. */
    @Test
    void whatSaysThatNothingHappened_isAboutMetricsThatAreOldEnough() {
        List<Map<String, Object>> silence =
                rules().stream()
                        .filter(rule -> ((String) rule.get("expr")).endsWith(" == 0"))
                        .collect(toList());
        assertThat(silence).hasSize(3);
        for (Map<String, Object> rule : silence) {
            Matcher increase = INCREASE.matcher((String) rule.get("expr"));
            assertThat(increase.find()).as("%s", rule).isTrue();
            assertThat((String) rule.get("expr"))
                    .contains(
                            String.format(
                                    " and %1$s and %1$s offset %2$s",
                                    increase.group(1), increase.group(2)));
        }
    }

    /**
     * Other jobs may take no periodic checkpoints; Flink counts 0 for them. A job that cannot
     * restore has only what is registered before that, and only while it has slots.
     */
    @Test
    void thatNoCheckpointCompletes_isAboutJobsWithAChangelog() {
        assertThat(rules())
                .filteredOn(rule -> "FlinkNoCheckpointCompletes".equals(rule.get("alert")))
                .singleElement()
                .satisfies(
                        rule ->
                                assertThat((String) rule.get("expr"))
                                        .contains(
                                                " and on (namespace, job_id) last_over_time("
                                                        + "flink_taskmanager_job_version_"
                                                        + "ChangelogStorage_release[1d])"));
    }

    /** Flink 1.20 counts each checkpoint that is due while tasks wait for slots or restore. */
    @Test
    void failuresDuringAStart_areForgottenBeforeTheyRaiseAnAlert() {
        assertThat(rules())
                .filteredOn(rule -> "FlinkCheckpointsFail".equals(rule.get("alert")))
                .singleElement()
                .satisfies(
                        rule -> {
                            Matcher increase = INCREASE.matcher((String) rule.get("expr"));
                            assertThat(increase.find()).isTrue();
                            assertThat(minutes(rule.get("for")))
                                    .as("five minutes for the start")
                                    .isGreaterThanOrEqualTo(minutes(increase.group(2)) + 5);
                        });
    }

    private static int minutes(Object duration) {
        assertThat((String) duration).matches("\\d+m");
        return Integer.parseInt(((String) duration).replace("m", ""));
    }

    @Test
    void everyRuleHasAName_andASummary() {
        assertThat(rules()).extracting(rule -> rule.get("alert")).doesNotHaveDuplicates();
        assertThat(rules())
                .allSatisfy(
                        rule -> {
                            assertThat((String) rule.get("alert")).matches("[A-Z][A-Za-z]+");
                            assertThat(annotation(rule, "summary")).isNotBlank();
                        });
    }

    private static void assertSame(Alert alert, Map<String, Object> rule) {
        Matcher duration = FOR.matcher(alert.condition);
        assertThat(rule.get("for"))
                .as("%s", alert)
                .isEqualTo(duration.find() ? duration.group(1) + "m" : null);
        assertThat((String) rule.get("expr")).as("%s", alert).endsWith(comparison(alert));
        if (alert.condition.startsWith("unchanged")) {
            Matcher intervals = INTERVALS.matcher(alert.condition);
            assertThat(intervals.find()).as("%s", alert).isTrue();
            Duration interval =
                    StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL.defaultValue();
            long minutes = interval.multipliedBy(Long.parseLong(intervals.group(1))).toMinutes();
            assertThat((String) rule.get("expr")).as("%s", alert).contains("[" + minutes + "m]");
        }
    }

    /** What the expression of the rule for {@code alert} ends with. */
    private static String comparison(Alert alert) {
        String condition = alert.condition;
        if (condition.startsWith("unchanged") || condition.startsWith("none completed")) {
            return " == 0";
        }
        if (condition.contains("`state.changelog.max-failures-allowed`")) {
            return " >= "
                    + StateChangelogOptions.MATERIALIZATION_MAX_FAILURES_ALLOWED.defaultValue();
        }
        if (condition.contains("`upload.max-slow-attempts`")) {
            return " >= " + DstlOptions.MAX_SLOW_ATTEMPTS.defaultValue();
        }
        if (condition.startsWith("grows")) {
            return " > 0";
        }
        Matcher threshold = THRESHOLD.matcher(condition);
        assertThat(threshold.find()).as("%s", alert).isTrue();
        String operator = threshold.group(1).isEmpty() ? ">=" : threshold.group(1);
        String value = threshold.group(2);
        if (" %".equals(threshold.group(3))) {
            value = String.valueOf(Double.parseDouble(value) / 100);
        } else if (" s".equals(threshold.group(3))) {
            value += "e9";
        }
        return " " + operator + " " + value;
    }

    private static List<Alert> alerts() {
        String page = Documentation.page("operations.md");
        String table = page.substring(page.indexOf("\n## Alerts"), page.indexOf("\n### Dashboard"));
        List<Alert> alerts = new ArrayList<>();
        table.lines()
                .filter(line -> line.startsWith("| "))
                .skip(1) // the header
                .forEach(line -> addAlerts(line, alerts));
        return alerts;
    }

    private static void addAlerts(String row, List<Alert> alerts) {
        List<String> cells =
                Pattern.compile("\\|").splitAsStream(row).map(String::strip).collect(toList());
        Matcher name = NAME.matcher(cells.get(1));
        assertThat(name.find()).as(row).isTrue();
        if (WITHOUT_RULE.contains(name.group(1))) {
            return;
        }
        for (int column : new int[] {2, 3}) {
            if (!cells.get(column).isEmpty()) {
                alerts.add(
                        new Alert(name.group(1), column == 2 ? "warn" : "page", cells.get(column)));
            }
        }
    }

    private static List<Map<String, Object>> rules() {
        Map<String, Object> file = StrictYaml.document(Documentation.text(RULES));
        return StrictYaml.maps(file.get("groups")).stream()
                .flatMap(group -> StrictYaml.maps(group.get("rules")).stream())
                .collect(toList());
    }

    private static String annotation(Map<String, Object> rule, String name) {
        return (String) StrictYaml.map(rule.get("annotations")).get(name);
    }

    private static String severity(Map<String, Object> rule) {
        return (String) StrictYaml.map(rule.get("labels")).get("severity");
    }
}
