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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.world.Condition;
import dev.dstl.log.simulation.world.Conditions;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;

/** Settings of the changelog storage for a seed, with small sizes. */
final class LogSettings {

    private LogSettings() {}

    /** A running job reads for compactions only. */
    private static int compactionMinRuns(Dice dice, boolean slow, boolean reads) {
        if (reads) {
            return 2;
        }
        return slow ? dice.oneOf(0, 8) : dice.oneOf(0, 2, 4);
    }

    /** A slow store needs larger segments and fewer concurrent requests. */
    static DstlSettings random(Dice dice, Conditions conditions, Path basePath) {
        boolean slow =
                conditions.has(Condition.SHARED_LINK) || conditions.has(Condition.SLOW_STORE);
        boolean small = conditions.has(Condition.OVERLAPPING_CHECKPOINTS);
        boolean reads =
                conditions.has(Condition.FAILING_READS) || conditions.has(Condition.ETERNAL_READS);
        long cutBytes =
                slow || small ? 30_000 : dice.oneOf(reads ? 30_000L : 300L, 3_000L, 30_000L);
        return DstlSettings.from(
                new Configuration()
                        .set(DstlOptions.BASE_PATH, basePath.toString())
                        .set(DstlOptions.COMPRESSION_ENABLED, dice.percent(20))
                        .set(
                                DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD,
                                new MemorySize(
                                        slow || small ? 5_000 : dice.oneOf(200L, 1_500L, 100_000L)))
                        .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(cutBytes))
                        .set(
                                DstlOptions.MAX_IN_FLIGHT,
                                new MemorySize(cutBytes * dice.oneOf(1, 2, 10)))
                        .set(DstlOptions.PERSIST_DELAY, Duration.ofMillis(dice.oneOf(0, 10, 50)))
                        .set(
                                DstlOptions.INLINE_THRESHOLD,
                                new MemorySize(small ? 20_000 : dice.oneOf(0L, 0L, 300L, 20_000L)))
                        .set(DstlOptions.COMPACTION_MIN_RUNS, compactionMinRuns(dice, slow, reads))
                        .set(
                                DstlOptions.COMPACTION_MAX_SIZE,
                                new MemorySize(dice.oneOf(reads ? 100_000L : 1_000L, 100_000L)))
                        .set(DstlOptions.HEDGE_BUDGET, dice.oneOf(0.0, 0.05, 0.5, 0.5))
                        .set(DstlOptions.HEDGE_QUANTILE, dice.oneOf(0.5, 0.9))
                        .set(DstlOptions.HEDGE_MIN_DELAY, Duration.ofMillis(dice.oneOf(1, 50)))
                        .set(DstlOptions.UPLOAD_THREADS, slow ? 5 : dice.oneOf(1, 2, 5))
                        .set(DstlOptions.MAX_SLOW_ATTEMPTS, dice.oneOf(0, 1, 4, 20))
                        .set(DstlOptions.DISCARD_THREADS, dice.oneOf(1, 3))
                        .set(
                                DstlOptions.RETRY_POLICY,
                                dice.oneOf("until-success", "until-success", "fixed", "none"))
                        .set(DstlOptions.MAX_ATTEMPTS, dice.oneOf(1, 3))
                        .set(
                                DstlOptions.NEXT_ATTEMPT_DELAY,
                                Duration.ofMillis(dice.oneOf(0, 20, 500)))
                        .set(DstlOptions.MAX_RETRY_DELAY, Duration.ofSeconds(dice.oneOf(1, 10)))
                        .set(DstlOptions.UPLOAD_TIMEOUT, Duration.ofMillis(dice.oneOf(50, 1_000)))
                        .set(
                                DstlOptions.MAX_AGE,
                                Duration.ofMillis(small ? 1_000 : dice.oneOf(0, 1_000, 5_000))));
    }
}
