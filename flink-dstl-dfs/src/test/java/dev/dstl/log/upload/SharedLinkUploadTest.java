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

package dev.dstl.log.upload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LinkedStore.Fate;
import java.util.Random;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Uploads over a shared link: transfers slow each other down, and duplicated ones slow down all
 * others.
 */
class SharedLinkUploadTest {

    private static final int LINK = 8_000_000;
    private static final int WARM_UP_SECONDS = 60;

    /** Cost of pings and of the bytes that hedged attempts send. */
    private static final long HARDLY_ANYTHING_MILLIS = 20;

    private LinkedTaskManagers cluster;

    @AfterEach
    void close() {
        cluster.close();
    }

    @ParameterizedTest
    @CsvSource({"8, 50, 2", "8, 80, 5", "1, 80, 5", "1, 50, 2", "8, 80, 1", "3, 65, 3"})
    void afterAStall_checkpointsAreSoonAsFastAsBefore_withHardlyAnyByteSentTwice(
            int taskManagers, int loadPercent, int stallSeconds) {
        cluster = new LinkedTaskManagers(taskManagers, LINK);
        int bytesEach = LINK / 100 * loadPercent / taskManagers;
        long stallMillis = WARM_UP_SECONDS * 1_000L;
        long endMillis = stallMillis + stallSeconds * 1_000L;
        cluster.link.stall(stallMillis, endMillis);

        cluster.checkpointEverySecond(WARM_UP_SECONDS + stallSeconds + 60, bytesEach);
        cluster.timers.advanceMillis(30_000);

        long before = cluster.medianMillis(stallMillis - 20_000, stallMillis);
        long recovered = cluster.fastSinceMillis(1.2 * before) - endMillis;
        System.out.printf(
                "%d x %d %%, %d s: before %d ms, fast again %d ms after, %.3f of the bytes, %d"
                        + " extra requests%n",
                taskManagers,
                loadPercent,
                stallSeconds,
                before,
                recovered,
                cluster.bytesSentPerDurableByte(),
                cluster.count("numberOfExtraUploadRequests"));
        assertThat(before).as("duration before").isBetween(loadPercent * 10L, loadPercent * 11L);
        assertThat(recovered)
                .as("time until checkpoints are as fast as before")
                .isLessThanOrEqualTo(3_000L * stallSeconds + 5_000);
        assertThat(cluster.bytesSentPerDurableByte()).isLessThanOrEqualTo(1.10);
        assertThat(cluster.checkpoints).allMatch(c -> c.isComplete());
    }

    /**
     * As Flink's default: one at a time, so that the next one has more to write the longer one
     * takes, and that nothing but a ping can show whether the store answers. At 80 %, stalls of 5 s
     * and more need more than the limit for the backlog alone. A hedged attempt is no probe: it may
     * be on its way when a short stall ends.
     */
    @ParameterizedTest
    @CsvSource({
        "8, 50, 2000, 0, 0",
        "8, 80, 1000, 0, 8",
        "8, 80, 1500, 900, 8",
        "8, 80, 2000, 0, 0",
        "8, 80, 3000, 0, 0",
        "8, 80, 3000, 400, 0",
        "8, 80, 5000, 0, 0",
        "1, 80, 5000, 0, 0",
        "8, 80, 8000, 0, 0",
        "8, 50, 20000, 0, 8"
    })
    void checkpointsOneAtATime_areSoonAsFastAsBefore(
            int taskManagers, int loadPercent, int stallMillis, int offsetMillis, int maxProbes) {
        String usual = DstlOptions.RETRY_POLICY.defaultValue();
        long alone = oneAtATime("none", taskManagers, loadPercent, stallMillis, offsetMillis);
        cluster.close();
        long recovered = oneAtATime(usual, taskManagers, loadPercent, stallMillis, offsetMillis);
        long probes =
                cluster.count("numberOfExtraUploadRequests")
                        - cluster.count("numberOfHedgedUploads");
        System.out.printf(
                "one at a time, %d x %d %%, %d ms: fast again %d ms after, %d without second"
                        + " attempts, %.3f of the bytes, %d probes, %d pings%n",
                taskManagers,
                loadPercent,
                stallMillis,
                recovered,
                alone,
                cluster.bytesSentPerDurableByte(),
                probes,
                cluster.store.pings());
        assertThat(recovered)
                .as("time until checkpoints are as fast as before")
                .isLessThanOrEqualTo(
                        Math.max(alone + HARDLY_ANYTHING_MILLIS, 3L * stallMillis + 5_000));
        assertThat(probes).as("probes").isLessThanOrEqualTo(maxProbes);
        assertThat(cluster.bytesSentPerDurableByte()).isLessThanOrEqualTo(1.01);
    }

    private long oneAtATime(
            String retryPolicy,
            int taskManagers,
            int loadPercent,
            int stallMillis,
            int offsetMillis) {
        cluster =
                new LinkedTaskManagers(
                        taskManagers,
                        LINK,
                        new Configuration().set(DstlOptions.RETRY_POLICY, retryPolicy));
        long bytesPerMilli = LINK / 100_000L * loadPercent / taskManagers;
        long startMillis = WARM_UP_SECONDS * 1_000L + offsetMillis;
        long endMillis = startMillis + stallMillis;
        cluster.link.stall(startMillis, endMillis);
        long sinceMillis = -1_000;
        while (cluster.link.nowMillis() < endMillis + 60_000) {
            long now = cluster.link.nowMillis();
            LinkedTaskManagers.Checkpoint checkpoint =
                    cluster.checkpoint((int) (bytesPerMilli * (now - sinceMillis)));
            sinceMillis = now;
            cluster.timers.advanceMillis(1_000);
            while (!checkpoint.isComplete()) {
                cluster.timers.advanceMillis(1);
            }
        }
        long before = cluster.medianMillis(startMillis - 20_000, startMillis);
        return cluster.fastSinceMillis(1.2 * before) - endMillis;
    }

    /** A dead connection while the store serves delays an upload by the timeout at most. */
    @Test
    void attemptOnADeadConnection_getsASecondOneAtTheTimeout_ifTheStoreAnswersPings() {
        cluster = new LinkedTaskManagers(1, LINK);
        cluster.store.decide(name -> name.attempt() == 1 ? Fate.HANGS : Fate.SENT);
        LinkedTaskManagers.Checkpoint checkpoint = cluster.checkpoint(80_000);
        cluster.timers.advanceMillis(999);
        assertThat(cluster.store.requests()).isEqualTo(1);
        cluster.timers.advanceMillis(1 + 20);
        assertThat(checkpoint.isComplete()).isTrue();
        assertThat(cluster.store.pings()).isEqualTo(1);
    }

    @Test
    void pingsThatHangAsWell_areWaitedForAWhile_andThenNotAnyMore() {
        cluster = new LinkedTaskManagers(1, LINK);
        cluster.store.leavePingsHanging();
        cluster.store.decide(name -> name.attempt() == 1 ? Fate.HANGS : Fate.SENT);
        LinkedTaskManagers.Checkpoint checkpoint = cluster.checkpoint(80_000);
        cluster.timers.advanceMillis(500 + StorePing.MAX_MILLIS - 1);
        assertThat(cluster.store.requests()).isEqualTo(1);
        assertThat(cluster.count("numberOfStorePings")).as("without an answer").isEqualTo(1);
        cluster.timers.advanceMillis(1 + 20);
        assertThat(checkpoint.isComplete()).isTrue();
        cluster.timers.advanceMillis(60_000);
        assertThat(cluster.store.hangingCount()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"8, 80", "1, 80", "8, 95"})
    void onALoadedLink_persistsAreAsFastAsWithASingleAttemptEach(
            int taskManagers, int loadPercent) {
        cluster = new LinkedTaskManagers(taskManagers, LINK);
        int bytesEach = LINK / 100 * loadPercent / taskManagers;
        cluster.checkpointEverySecond(300, bytesEach);
        cluster.timers.advanceMillis(10_000);
        long alone = loadPercent * 10L;
        assertThat(cluster.checkpoints)
                .allMatch(c -> cluster.durationMillis(c) <= alone * 1.05 + 1);
        assertThat(cluster.bytesSentPerDurableByte()).isLessThanOrEqualTo(1.01);
    }

    @Test
    void storeThatNeedsTheSameLongTimeForEachRequest_getsOneForEachSegment() {
        cluster = new LinkedTaskManagers(1, 1_000_000_000);
        cluster.link.answerAfter(() -> 1_200);
        cluster.checkpointEverySecond(200, 100_000);
        cluster.timers.advanceMillis(5_000);
        assertThat(cluster.durableSegments()).isEqualTo(200);
        System.out.println("1.2 s each: " + cluster.store.requests() + " of 200");
        assertThat(cluster.store.requests()).isLessThanOrEqualTo(210);
    }

    @Test
    void storeThatThrottles_getsNoSecondAttempts() {
        cluster = new LinkedTaskManagers(1, 1_000_000_000);
        cluster.link.answerAfter(() -> 30);
        cluster.checkpointEverySecond(60, 100_000);
        long before = cluster.store.requests();
        int[] throttled = new int[1];
        cluster.store.decide(name -> throttled[0]++ % 2 == 0 ? Fate.THROTTLED : Fate.HANGS);
        cluster.checkpointEverySecond(5, 100_000);
        long needed = cluster.count("numberOfUploadRequests");
        System.out.println("throttled: " + (cluster.store.requests() - before));
        assertThat(cluster.count("numberOfExtraUploadRequests")).isZero();
        assertThat(needed).isPositive();
    }

    @Test
    void storeWithALongTail_isStillHedged() {
        cluster = new LinkedTaskManagers(1, 1_000_000_000);
        Random random = new Random(4711);
        cluster.link.answerAfter(() -> latencyMillis(random));
        int count = 5_000;
        for (int i = 0; i < count; i++) {
            cluster.checkpoint(100_000);
            cluster.timers.advanceMillis(200);
        }
        cluster.timers.advanceMillis(10_000);
        long[] durations =
                cluster.checkpoints.stream()
                        .mapToLong(LinkedTaskManagers.Checkpoint::ownMillis)
                        .sorted()
                        .toArray();
        System.out.printf(
                "long tail: p50 %d p99 %d p99.9 %d max %d, %d extra requests of %d%n",
                durations[count / 2],
                durations[count / 100 * 99],
                durations[count / 1_000 * 999],
                durations[count - 1],
                cluster.count("numberOfExtraUploadRequests"),
                count);
        assertThat(durations[count / 1_000 * 999]).isLessThanOrEqualTo(400);
        assertThat(cluster.store.requests()).isLessThanOrEqualTo((int) (1.05 * count));
    }

    /** Latency of the target store: p50 30 ms, p99 150 ms, and 0.2 % at 3 s. */
    private static long latencyMillis(Random random) {
        if (random.nextInt(1_000) < 2) {
            return 3_000;
        }
        double spread = Math.log(150.0 / 30) / 2.3263;
        return (long) Math.ceil(30 * Math.exp(spread * random.nextGaussian()));
    }
}
