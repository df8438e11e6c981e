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

package dev.dstl.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CostPageTest {

    private static final Path PAGE = Paths.get("..", "docs", "cost.md");

    /** System property: write the page instead of comparing it. */
    private static final String WRITE = "dstl.docs.write";

    private static final Map<CostWorkload, List<JobCost>> COSTS = new EnumMap<>(CostWorkload.class);

    @BeforeAll
    static void simulate() throws Exception {
        for (CostWorkload workload : CostWorkload.values()) {
            List<JobCost> costs = new ArrayList<>();
            for (CostedChangelog changelog : CostedChangelog.values()) {
                costs.add(JobCost.of(workload, changelog));
            }
            COSTS.put(workload, costs);
        }
    }

    @Test
    void pageSaysWhatTheSimulationMeasures() throws Exception {
        String expected = CostPage.of(COSTS);
        if (Boolean.getBoolean(WRITE)) {
            Files.writeString(PAGE, expected);
        }
        assertThat(Files.readString(PAGE))
                .as("docs/cost.md is stale; CONTRIBUTING.md says how to write it again")
                .isEqualTo(expected);
    }

    @Test
    void requestsCostWhatWasPromised() {
        JobCost cost = COSTS.get(CostWorkload.MANY).get(0);
        assertThat(cost.use().gets).as("GET per checkpoint").isLessThanOrEqualTo(0.05);
        assertThat(cost.use().puts).as("PUT per checkpoint").isLessThanOrEqualTo(1.15);
        assertThat(cost.dollarsPerMonth()).as("USD per month").isLessThanOrEqualTo(15_000);
    }

    @Test
    void checkpointOf4000Subtasks_takesFewBytesOnTheJobManager() {
        for (CostWorkload workload : CostWorkload.values()) {
            if (workload.subtasks() == CostWorkload.PARALLELISM) {
                JobCost cost = COSTS.get(workload).get(0);
                assertThat(cost.acknowledgedBytes())
                        .as("bytes acknowledged, %s", workload)
                        .isLessThanOrEqualTo(16e6);
                assertThat(cost.firstHeapBytes())
                        .as("bytes on the heap, %s", workload)
                        .isLessThanOrEqualTo(40e6);
            }
        }
    }
}
