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

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The text of docs/cost.md. */
final class CostPage {

    private static final double MEGABYTE = 1e6;
    private static final double KILOBYTE = 1e3;

    /** The workload of the first paragraph. */
    private static final CostWorkload FIRST = CostWorkload.MANY;

    /** Workloads with this interval have a sentence of their own in the first paragraph. */
    private static final int SELDOM_SECONDS = CostWorkload.MANY_SELDOM.intervalSeconds();

    private CostPage() {}

    /** Returns the page for costs of each workload, with DSTL and the built-in changelog. */
    static String of(Map<CostWorkload, List<JobCost>> costs) {
        return String.join(
                "\n",
                "# Cost at scale",
                "",
                answer(costs.get(FIRST)) + " " + seldom(costs) + " All results are simulated.",
                "",
                memoryOfFirst(costs.get(FIRST)),
                "",
                "## Requests and prices",
                "",
                "Requests and bytes of one TaskManager per checkpoint; USD of all "
                        + number(CostWorkload.TASK_MANAGERS)
                        + " TaskManagers per month.",
                "",
                "| a TaskManager has | checkpoints | changelog | PUT | GET | DELETE | uploaded"
                        + " | USD per month |",
                "|---|---|---|---|---|---|---|---|",
                rows(costs, CostPage::requests),
                "",
                "With a checkpoint every "
                        + SELDOM_SECONDS
                        + " s DSTL makes more requests than Flink's built-in changelog, because it"
                        + " also uploads state changes that get old between two checkpoints"
                        + " (`upload.max-age`, [cost](object-stores.md#cost)).",
                "",
                "## JobManager",
                "",
                "Of all subtasks, per checkpoint: what they acknowledge, `_metadata`, the file below"
                        + " `high-availability.storageDir` where there is"
                        + " [high availability](sizing.md#high-availability), and the heap for the first"
                        + " checkpoint the JobManager holds, with Flink's registry of shared state,"
                        + " and for each further one.",
                "",
                "| a TaskManager has | checkpoints | changelog | keyed subtasks | acknowledged |"
                        + " `_metadata` | high availability | heap, first | heap, further |",
                "|---|---|---|---|---|---|---|---|---|",
                rows(costs, CostPage::memory),
                "",
                conditions(),
                "");
    }

    private static String answer(List<JobCost> costs) {
        return String.format(
                Locale.ROOT,
                "With %s TaskManagers of %d changelogs each and a checkpoint per second, DSTL costs"
                        + " %s USD a month at S3 list prices, and Flink's built-in changelog %s"
                        + " USD.",
                number(CostWorkload.TASK_MANAGERS),
                FIRST.changelogs(),
                number(costs.get(0).dollarsPerMonth()),
                number(costs.get(1).dollarsPerMonth()));
    }

    private static String seldom(Map<CostWorkload, List<JobCost>> costs) {
        DoubleSummaryStatistics puts = ofSeldom(costs, of -> of.get(0).use().puts);
        DoubleSummaryStatistics more =
                ofSeldom(
                        costs,
                        of ->
                                100
                                        * (of.get(0).dollarsPerMonth() / of.get(1).dollarsPerMonth()
                                                - 1));
        return String.format(
                Locale.ROOT,
                "With a checkpoint every %d s DSTL makes %.2f to %.2f PUTs per TaskManager and"
                        + " checkpoint, and costs %s to %s %% more than the built-in changelog.",
                SELDOM_SECONDS,
                puts.getMin(),
                puts.getMax(),
                number(more.getMin()),
                number(more.getMax()));
    }

    private static DoubleSummaryStatistics ofSeldom(
            Map<CostWorkload, List<JobCost>> costs, ToDoubleFunction<List<JobCost>> result) {
        return costs.entrySet().stream()
                .filter(of -> of.getKey().intervalSeconds() == SELDOM_SECONDS)
                .mapToDouble(of -> result.applyAsDouble(of.getValue()))
                .summaryStatistics();
    }

    private static String memoryOfFirst(List<JobCost> costs) {
        return String.format(
                Locale.ROOT,
                "Each subtask of a keyed operator has a changelog of its own. With a checkpoint per"
                        + " second the JobManager of this job needs %s MB of heap for the first"
                        + " checkpoint that it holds, and %s MB with Flink's built-in changelog."
                        + " Whether it keeps up was not measured: with DSTL it takes %s MB of"
                        + " acknowledgements every second and writes %s MB of `_metadata`. Plan for"
                        + " longer intervals at this size.",
                rounded(costs.get(0).firstHeapBytes() / MEGABYTE),
                rounded(costs.get(1).firstHeapBytes() / MEGABYTE),
                rounded(costs.get(0).acknowledgedBytes() / MEGABYTE),
                rounded(costs.get(0).metadataBytes() / MEGABYTE));
    }

    private static String rows(Map<CostWorkload, List<JobCost>> costs, Row row) {
        StringBuilder rows = new StringBuilder();
        costs.forEach(
                (workload, ofWorkload) ->
                        ofWorkload.forEach(
                                cost -> {
                                    rows.append(rows.length() == 0 ? "" : "\n");
                                    rows.append("| ")
                                            .append(workload.title())
                                            .append(" | every ")
                                            .append(workload.intervalSeconds())
                                            .append(" s | ")
                                            .append(cost.changelog().title())
                                            .append(row.of(cost))
                                            .append(" |");
                                }));
        return rows.toString();
    }

    private static String requests(JobCost cost) {
        StoreUse use = cost.use();
        return String.format(
                Locale.ROOT,
                " | %.2f | %.2f | %.2f | %s KB | %s",
                use.puts,
                use.gets,
                use.deletes,
                rounded(use.writtenBytes / KILOBYTE),
                number(cost.dollarsPerMonth()));
    }

    private static String memory(JobCost cost) {
        return String.format(
                Locale.ROOT,
                " | %s | %s MB | %s MB | %s MB | %s MB | %s MB",
                number(cost.workload().subtasks()),
                rounded(cost.acknowledgedBytes() / MEGABYTE),
                rounded(cost.metadataBytes() / MEGABYTE),
                rounded(cost.highAvailabilityBytes() / MEGABYTE),
                rounded(cost.firstHeapBytes() / MEGABYTE),
                rounded(cost.furtherHeapBytes() / MEGABYTE));
    }

    /** Rounds to three digits, or to an integer. */
    private static String rounded(double value) {
        return value < 100 ? String.format(Locale.ROOT, "%.1f", value) : number(value);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%,d", Math.round(value));
    }

    private static String conditions() {
        return String.join(
                "\n",
                "## Conditions",
                "",
                "**What is simulated.** One TaskManager with 24 changelogs, or two with 4, on"
                        + " the production classes with default options, a manual clock and a store"
                        + " that counts requests and answers at once. State changes have "
                        + CostWorkload.CHANGE_BYTES
                        + " bytes and change one of "
                        + number(CostWorkload.KEYS)
                        + " keys of a changelog at random. Operators have a parallelism of "
                        + number(CostWorkload.PARALLELISM)
                        + ". Barriers reach all changelogs within some milliseconds, in the middle"
                        + " between two checks of `upload.max-age` or, with two TaskManagers, a"
                        + " quarter before and after it. Each changelog is materialized every "
                        + CostWorkload.MATERIALIZATION_SECONDS / 60
                        + " minutes, at times spread over the interval. Counting begins after the"
                        + " first interval and takes half of one.",
                "",
                "**What is multiplied.** The other TaskManagers do the same with files of their own."
                        + " The JobManager gets one acknowledgement per subtask, serialized and"
                        + " deserialized as Flink does, puts them into a `CompletedCheckpoint` and"
                        + " the registry, and writes `_metadata`, and the file for high availability,"
                        + " with Flink's serializers. With 4"
                        + " changelogs that is done for all 4,000 subtasks; with 24 for 4,800, times"
                        + " five. JOL measures the heap. Acknowledgements are means over 10"
                        + " checkpoints.",
                "",
                "**Flink's built-in changelog** is its real `FsStateChangelogStorage`. It writes one"
                        + " file per checkpoint and TaskManager, its best case: all barriers arrive"
                        + " within its `batch.persist-delay`. Since nothing in it varies, requests are"
                        + " counted over a tenth of an interval, each file counts as deleted once,"
                        + " and acknowledgements are built for 10 TaskManagers, times 100.",
                "",
                "**Prices** are those of [S3 Standard](https://aws.amazon.com/s3/pricing/) in"
                        + " us-east-1: "
                        + dollars(StorePrices.WRITE)
                        + " USD per 1,000 PUTs and LISTs, "
                        + dollars(StorePrices.READ)
                        + " USD per 1,000 GETs and HEADs, deletions free, 0.023 USD per GB and month"
                        + " for what is stored. The plugin adds a HEAD to each deletion, and two HEADs"
                        + " and a LIST to each file of Flink's built-in changelog"
                        + " ([requests](object-stores.md#requests)).",
                "",
                "**Not included:** what the state backend uploads for materializations, the base in"
                        + " acknowledgements, `_metadata` and the file for high availability, the"
                        + " requests and prices of these two, hedged attempts and restores.",
                "",
                "```bash",
                "bin/test docs write   # simulates again, and writes this page",
                "```");
    }

    private static String dollars(StorePrices price) {
        return BigDecimal.valueOf(price.dollars() * 1_000)
                .setScale(4, RoundingMode.HALF_UP)
                .stripTrailingZeros()
                .toPlainString();
    }

    @FunctionalInterface
    private interface Row {
        String of(JobCost cost);
    }
}
