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

package dev.dstl.benchmarks.simulated.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RequestPlannerTest {

    private static final int REQUESTS = 200_000;

    private final StoreProfile.Builder profile =
            StoreProfile.builder().seed(7).latencyMillis(30, 150);

    @Test
    void latencies_haveTheGivenMedianAndP99() {
        double[] millis = sortedMillis(new RequestPlanner(profile.build()));

        assertThat(millis[REQUESTS / 2]).isCloseTo(30, within(0.5));
        assertThat(millis[REQUESTS / 100 * 99]).isCloseTo(150, within(5.0));
    }

    @Test
    void latencies_areLogNormalBetweenAndBeyondTheGivenQuantiles() {
        double[] millis = sortedMillis(new RequestPlanner(profile.build()));

        // ln(150 / 30) / 2.326 = 0.692 is the deviation; 1.282 and 3.090 are normal quantiles.
        assertThat(millis[REQUESTS / 10 * 9]).isCloseTo(30 * Math.exp(0.692 * 1.282), within(2.0));
        assertThat(millis[REQUESTS / 1000 * 999])
                .isCloseTo(30 * Math.exp(0.692 * 3.090), within(20.0));
    }

    @Test
    void tail_isTheGivenFractionAtTheGivenLatency() {
        double[] millis = sortedMillis(new RequestPlanner(profile.tail(0.002, 3000).build()));

        long slow = Arrays.stream(millis).filter(value -> value == 3000).count();
        assertThat(slow / (double) REQUESTS).isCloseTo(0.002, within(0.0004));
    }

    @Test
    void sameSeed_givesTheSamePlans_andAnotherSeedGivesOthers() {
        assertThat(latencies(profile.seed(1).build(), 100))
                .isEqualTo(latencies(profile.seed(1).build(), 100))
                .isNotEqualTo(latencies(profile.seed(2).build(), 100));
    }

    @Test
    void switchingOnAFault_changesNoLatencyOfTheSeed() {
        assertThat(latencies(profile.throttledFraction(0).build(), 100))
                .isEqualTo(latencies(profile.throttledFraction(0.5).build(), 100));
    }

    @Test
    void outcomes_haveTheGivenFractions() {
        RequestPlanner planner =
                new RequestPlanner(
                        profile.throttledFraction(0.1)
                                .failedFraction(0.2)
                                .lostAcknowledgementFraction(0.3)
                                .build());
        List<RequestOutcome> outcomes =
                IntStream.range(0, REQUESTS)
                        .mapToObj(i -> planner.next(RequestType.PUT).outcome())
                        .collect(Collectors.toList());

        assertThat(fraction(outcomes, RequestOutcome.THROTTLED)).isCloseTo(0.1, within(0.01));
        assertThat(fraction(outcomes, RequestOutcome.FAILED)).isCloseTo(0.2, within(0.01));
        assertThat(fraction(outcomes, RequestOutcome.ACKNOWLEDGEMENT_LOST))
                .isCloseTo(0.3, within(0.01));
        assertThat(fraction(outcomes, RequestOutcome.SUCCESS)).isCloseTo(0.4, within(0.01));
    }

    @Test
    void withoutLatency_requestsTakeNoTime() {
        RequestPlanner planner = new RequestPlanner(StoreProfile.instant());

        assertThat(planner.next(RequestType.GET).latencyNanos()).isZero();
    }

    @Test
    void script_holdsForItsTypeInOrderAndOnce() {
        RequestPlanner planner = new RequestPlanner(StoreProfile.instant());
        planner.script(RequestType.PUT, RequestPlan.of(RequestOutcome.FAILED, 5));
        planner.script(RequestType.PUT, RequestPlan.of(RequestOutcome.THROTTLED, 6));

        assertThat(planner.next(RequestType.GET).outcome()).isEqualTo(RequestOutcome.SUCCESS);
        RequestPlan first = planner.next(RequestType.PUT);
        assertThat(first.outcome()).isEqualTo(RequestOutcome.FAILED);
        assertThat(first.latencyNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(5));
        assertThat(planner.next(RequestType.PUT).outcome()).isEqualTo(RequestOutcome.THROTTLED);
        assertThat(planner.next(RequestType.PUT).outcome()).isEqualTo(RequestOutcome.SUCCESS);
    }

    private static double[] sortedMillis(RequestPlanner planner) {
        return IntStream.range(0, REQUESTS)
                .mapToDouble(i -> planner.next(RequestType.PUT).latencyNanos() / 1e6)
                .sorted()
                .toArray();
    }

    private static List<Long> latencies(StoreProfile profile, int count) {
        RequestPlanner planner = new RequestPlanner(profile);
        return IntStream.range(0, count)
                .mapToObj(i -> planner.next(RequestType.PUT).latencyNanos())
                .collect(Collectors.toList());
    }

    private static double fraction(List<RequestOutcome> outcomes, RequestOutcome wanted) {
        return outcomes.stream().filter(outcome -> outcome == wanted).count()
                / (double) outcomes.size();
    }
}
