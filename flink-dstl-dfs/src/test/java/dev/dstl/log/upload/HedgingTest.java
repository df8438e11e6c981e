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
import dev.dstl.log.config.DstlSettings;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HedgingTest {

    private static final int SMALL = 1_000;
    private static final int LARGE = 10 << 20;

    private final Configuration configuration =
            new Configuration().set(DstlOptions.BASE_PATH, "file:/tmp/log");

    @Test
    void asLongAsLittleIsKnown_onlyTheTimeoutHelps() {
        Hedging hedging = hedging();
        learn(hedging, SMALL, 29, 100);
        assertThat(hedging.delayMillis(SMALL)).isZero();
        learn(hedging, SMALL, 1, 100);
        assertThat(hedging.delayMillis(SMALL)).isEqualTo(101);
    }

    @Test
    void sizes_areLearnedApart() {
        Hedging hedging = hedging();
        learn(hedging, SMALL, 100, 60);
        learn(hedging, LARGE, 100, 400);
        assertThat(hedging.delayMillis(SMALL)).isEqualTo(61);
        assertThat(hedging.delayMillis(16 << 10)).isEqualTo(61);
        assertThat(hedging.delayMillis(LARGE)).isEqualTo(401);
        assertThat(hedging.delayMillis(1 << 20)).as("nothing known").isZero();
    }

    @Test
    void quantile_isThatOfTheLatestUploads() {
        Hedging hedging = hedging();
        for (int i = 1; i <= 256; i++) {
            learn(hedging, SMALL, 1, 100 + i);
        }
        assertThat(hedging.delayMillis(SMALL)).isEqualTo(100 + 251 + 1);
        learn(hedging, SMALL, 256, 70);
        assertThat(hedging.delayMillis(SMALL)).as("the store got faster").isEqualTo(71);
    }

    @Test
    void delay_liesBetweenItsBoundAndTheTimeout() {
        Hedging hedging = hedging();
        learn(hedging, SMALL, 100, 1);
        assertThat(hedging.delayMillis(SMALL)).isEqualTo(50);
        learn(hedging, LARGE, 100, 1_500);
        assertThat(hedging.delayMillis(LARGE)).as("the timeout comes first").isZero();
    }

    @Test
    void switchedOff_thereIsNoDelay() {
        configuration.set(DstlOptions.HEDGE_BUDGET, 0.0);
        assertNoHedging();
    }

    @Test
    void withoutSecondAttemptsAtAll_thereIsNoDelay() {
        configuration.set(DstlOptions.RETRY_POLICY, "none");
        assertNoHedging();
    }

    @Test
    void withoutTimeout_thereIsNoDelay() {
        configuration.set(DstlOptions.UPLOAD_TIMEOUT, Duration.ZERO);
        assertNoHedging();
    }

    private void assertNoHedging() {
        Hedging hedging = hedging();
        learn(hedging, SMALL, 100, 100);
        assertThat(hedging.delayMillis(SMALL)).isZero();
    }

    /** The target store: p50 30 ms, p99 150 ms, and 0.2 % at 3 s. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void onAStoreWithALongTail_itIsCut_forFewExtraRequests(long seed) {
        Random random = new Random(seed);
        Hedging hedging = hedging();
        int uploads = 50_000;
        long[] millis = new long[uploads];
        long[] alone = new long[uploads];
        int extra = 0;
        for (int i = 0; i < uploads; i++) {
            hedging.budget().earn(SMALL);
            alone[i] = latencyMillis(random);
            millis[i] = alone[i];
            long delay = hedging.delayMillis(SMALL);
            if (delay > 0 && alone[i] > delay && hedging.budget().trySpend(SMALL)) {
                extra++;
                long second = latencyMillis(random);
                millis[i] = Math.min(alone[i], delay + second);
                learn(hedging, SMALL, 1, second);
            }
            learn(hedging, SMALL, 1, alone[i]);
        }
        Arrays.sort(millis);
        Arrays.sort(alone);
        int rank = uploads / 1_000 * 999;
        assertThat(alone[rank]).as("p99.9 without hedging").isEqualTo(3_000);
        assertThat(millis[rank]).as("p99.9 with hedging").isLessThanOrEqualTo(400);
        assertThat(extra / (double) uploads).as("extra requests").isLessThanOrEqualTo(0.05);
    }

    @Test
    void onAStoreThatGrowsSlowAsAWhole_extraRequestsStayWithinTheirShare() {
        Hedging hedging = hedging();
        learn(hedging, SMALL, 256, 30);
        int extra = 0;
        for (int i = 0; i < 1_000; i++) {
            hedging.budget().earn(SMALL);
            long delay = hedging.delayMillis(SMALL);
            extra += delay > 0 && 500 > delay && hedging.budget().trySpend(SMALL) ? 1 : 0;
        }
        assertThat(extra).as("nothing is learned until an attempt ends").isBetween(49, 50);
    }

    private static long latencyMillis(Random random) {
        if (random.nextInt(1_000) < 2) {
            return 3_000;
        }
        double spread = Math.log(150.0 / 30) / 2.3263;
        return (long) Math.ceil(30 * Math.exp(spread * random.nextGaussian()));
    }

    private Hedging hedging() {
        return new Hedging(DstlSettings.from(configuration));
    }

    private static void learn(Hedging hedging, long bytes, int uploads, long millis) {
        for (int i = 0; i < uploads; i++) {
            hedging.took(bytes, TimeUnit.MILLISECONDS.toNanos(millis));
        }
    }
}
