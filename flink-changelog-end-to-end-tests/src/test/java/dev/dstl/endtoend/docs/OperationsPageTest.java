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
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperationsPageTest {

    private static final Pattern REGISTRATION =
            Pattern.compile("[.>](gauge|counter|histogram|meter)\\(");

    private static final String PAGE = "operations.md";

    @TempDir Path basePath;
    private final Set<String> registered = new TreeSet<>();

    @BeforeEach
    void collect() throws Exception {
        registered.addAll(RegisteredMetrics.ofJob(basePath));
        registered.addAll(RegisteredMetrics.ofOperator());
        registered.addAll(RegisteredMetrics.ofSpillableHeap());
    }

    @Test
    void thePageDescribesEveryMetric() {
        assertThat(Documentation.rowsAboutCode(Documentation.page(PAGE)))
                .containsAll(registered)
                .doesNotHaveDuplicates();
    }

    @Test
    void thePageDescribesNoMetricThatNobodyRegisters() {
        assertThat(
                        Documentation.rowsAboutCode(Documentation.page(PAGE)).stream()
                                .filter(
                                        row ->
                                                row.startsWith("Changelog")
                                                        || row.startsWith("spillable."))
                                .collect(toList()))
                .isNotEmpty()
                .allSatisfy(row -> assertThat(registered).contains(row));
    }

    @Test
    void alertsAreAboutMetricsThatAreRegistered() {
        String page = Documentation.page(PAGE);
        String alerts =
                page.substring(page.indexOf("\n## Alerts"), page.indexOf("\n### Dashboard"));

        assertThat(Documentation.rowsAboutCode(alerts))
                .hasSizeGreaterThan(8)
                .allMatch(row -> registered.stream().anyMatch(name -> name.endsWith("." + row)));
    }

    @Test
    void metricsAreRegisteredWhereTheTestsLook() {
        assertThat(SourceTree.filesWith(REGISTRATION))
                .containsExactlyInAnyOrder(
                        "DstlMetrics.java",
                        "MaterializationMetrics.java",
                        "CheckpointMetrics.java",
                        "RestoreMetrics.java",
                        "SpillMetrics.java");
    }
}
