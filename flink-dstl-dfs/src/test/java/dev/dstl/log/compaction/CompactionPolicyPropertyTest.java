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

package dev.dstl.log.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.testing.ManualTimers;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Number of runs that compaction leaves, and how much it copies. */
class CompactionPolicyPropertyTest {

    private static final int MIN_RUNS = 16;
    private static final long MAX_BYTES = 32 << 20;
    private static final double FAST = 1e9;

    private final ManualTimers timers = new ManualTimers();

    /** Ten minutes of checkpoints every second. */
    @ParameterizedTest
    @CsvSource({"32, 32, 15, 2", "16, 16, 10, 4.5", "8, 10, 7, 6.5", "4, 10, 5, 9"})
    void smallRuns_stayNearTheirLimit_andAreFewerTheLowerItIs(
            int runLimit, int most, double average, double rewritten) {
        SimulatedChangelog changelog = changelog(runLimit, 1, FAST);
        int max = 0;
        long sum = 0;
        for (int checkpoint = 1; checkpoint <= 600; checkpoint++) {
            changelog.checkpoint(1_000);
            timers.advanceMillis(1_000);
            max = Math.max(max, changelog.runCount());
            sum += changelog.runCount();
        }

        assertThat(max).isLessThanOrEqualTo(most);
        assertThat(sum / 600.0).as("on average").isLessThanOrEqualTo(average);
        assertThat(changelog.copiedBytes() / 1_200_000.0)
                .as("times that each state change is written again")
                .isLessThanOrEqualTo(rewritten);
    }

    /** While compaction is slow, runs of many sizes and levels become neighbours. */
    @Property(tries = 500)
    void runsOfManySizes_areFewInTheEnd_asFarAsNeighboursFitTogether(@ForAll long seed) {
        Random random = new Random(seed);
        double survivors = random.nextDouble();
        double bytes = logUniform(random, 1e6, MAX_BYTES);
        SimulatedChangelog changelog =
                new SimulatedChangelog(
                        timers,
                        2 + random.nextInt(MIN_RUNS - 1),
                        32,
                        MAX_BYTES,
                        () -> survivors * random.nextDouble(),
                        logUniform(random, 1e3, 1e6));
        for (int checkpoint = 1; checkpoint <= 400; checkpoint++) {
            changelog.checkpoint(1 + (long) (bytes * random.nextDouble()));
            timers.advanceMillis(random.nextInt(10) > 0 ? 1_000 : 60_000);
        }
        timers.advanceMillis(100_000_000);

        assertThat(changelog.runCount())
                .as("of %d bytes", changelog.bytes())
                .isLessThanOrEqualTo(33 + (int) (2 * changelog.bytes() / MAX_BYTES));
    }

    @Property(tries = 500)
    void eachByte_isCopiedOncePerLevel_andLargeOnesInAThirtiethOfTheTime(@ForAll long seed) {
        Random random = new Random(seed);
        int runLimit = 4 + random.nextInt(29);
        double survivors = random.nextDouble();
        double bytesPerMilli = logUniform(random, 1e3, 1e6);
        SimulatedChangelog changelog = changelog(runLimit, survivors, bytesPerMilli);
        double bytes = logUniform(random, 1e3, 1e8);
        long base = (long) logUniform(random, 1e3, 1e9);
        changelog.truncate(changelog.addBoundary(), base);
        long logged = 0;
        long millis = 0;
        for (int checkpoint = 1; checkpoint <= 400; checkpoint++) {
            long run = 1 + (long) (bytes * random.nextDouble());
            logged += run;
            changelog.checkpoint(run);
            long pause = 1L + random.nextInt(2_000);
            timers.advanceMillis(pause);
            millis += pause;
            if (random.nextInt(50) == 0) {
                changelog.truncate(changelog.addBoundary(), base);
            }
        }

        assertThat(changelog.copiedBytes())
                .as("read and written")
                .isLessThanOrEqualTo(2L * changelog.maxLevel() * logged);
        long longest = 1 + (long) (MAX_BYTES / bytesPerMilli);
        assertThat(changelog.largeReadMillis())
                .as("of %s ms", millis)
                .isLessThanOrEqualTo(millis / 30 + longest);
    }

    /** A base of some KB, and MB of state changes per checkpoint. */
    @Test
    void tinyBase_isNoReasonToCompact() {
        SimulatedChangelog changelog = changelog(32, 0.01, FAST);
        changelog.truncate(changelog.addBoundary(), 10_000);
        for (int checkpoint = 1; checkpoint <= 12; checkpoint++) {
            changelog.checkpoint(3 << 20);
            timers.advanceMillis(1_000);
        }

        assertThat(changelog.compactions()).as("12 of 16 runs").isZero();
    }

    @Test
    void uncompactedRuns_areCompactedFromAQuarterOfTheBaseOn_whereFewBytesSurvive() {
        SimulatedChangelog changelog = changelog(32, 0.1, FAST);
        changelog.truncate(changelog.addBoundary(), 40 << 20);
        for (int checkpoint = 1; checkpoint <= 5; checkpoint++) {
            changelog.checkpoint(2 << 20);
            timers.advanceMillis(1_000);
        }
        assertThat(changelog.compactions()).as("a quarter").isZero();

        changelog.checkpoint(2 << 20);
        timers.advanceMillis(1_000);

        assertThat(changelog.runCount()).isEqualTo(1);
        assertThat(changelog.bytes()).isEqualTo((12 << 20) / 10);
    }

    @Test
    void uncompactedRuns_areLeftToTheNextBase_whereTooManyBytesSurvive() {
        SimulatedChangelog changelog = changelog(32, 0.7, FAST);
        changelog.truncate(changelog.addBoundary(), 40 << 20);
        for (int checkpoint = 1; checkpoint <= 15; checkpoint++) {
            changelog.checkpoint(2 << 20);
            timers.advanceMillis(100_000);
        }

        assertThat(changelog.compactions()).as("the first shows how many survive").isEqualTo(1);
    }

    @Test
    void runsBeforeABaseThatIsUnderWay_areNotCompactedForTheirSize() {
        SimulatedChangelog changelog = changelog(32, 0.1, FAST);
        changelog.truncate(changelog.addBoundary(), 40 << 20);
        for (int checkpoint = 1; checkpoint <= 5; checkpoint++) {
            changelog.checkpoint(2 << 20);
            timers.advanceMillis(1_000);
        }
        changelog.addBoundary();
        for (int checkpoint = 1; checkpoint <= 5; checkpoint++) {
            changelog.checkpoint(2 << 20);
            timers.advanceMillis(1_000);
        }

        assertThat(changelog.compactions()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1, 32", "4096, 32", "4097, 31", "8192, 16", "16384, 8", "26214, 5", "32768, 4"})
    void runLimit_fallsWithTheParallelism(int parallelism, int runLimit) {
        Configuration configuration = new Configuration();
        configuration.set(DstlOptions.BASE_PATH, "/log");

        assertThat(DstlSettings.from(configuration).runLimit(parallelism)).isEqualTo(runLimit);
    }

    @Test
    void runLimit_followsTheOption() {
        Configuration configuration = new Configuration();
        configuration.set(DstlOptions.BASE_PATH, "/log");
        configuration.set(DstlOptions.COMPACTION_MAX_RUNS_PER_OPERATOR, 1_000);

        assertThat(DstlSettings.from(configuration).runLimit(100)).isEqualTo(10);
    }

    private SimulatedChangelog changelog(int runLimit, double survivors, double bytesPerMilli) {
        return new SimulatedChangelog(
                timers, MIN_RUNS, runLimit, MAX_BYTES, () -> survivors, bytesPerMilli);
    }

    private static double logUniform(Random random, double from, double to) {
        return from * Math.pow(to / from, random.nextDouble());
    }
}
