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
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {

    @Test
    void untilSuccess_neverGivesUp_andWaitsLongerEachTimeUpToABound() {
        RetryPolicy policy = policy("until-success");
        assertThat(policy.givesUpAfter(1_000_000)).isFalse();
        assertThat(policy.retryDelayMillis(1, false, 0.999999)).isEqualTo(99);
        assertThat(policy.retryDelayMillis(1, false, 0)).as("spread by half").isEqualTo(50);
        assertThat(policy.retryDelayMillis(2, false, 0)).isEqualTo(100);
        assertThat(policy.retryDelayMillis(3, false, 0)).isEqualTo(200);
        assertThat(policy.retryDelayMillis(1_000, false, 0.999999)).isEqualTo(9_999);
    }

    @ParameterizedTest
    @ValueSource(strings = {"until-success", "fixed", "none"})
    void storeThatAsksForFewerRequests_getsThem(String mode) {
        RetryPolicy policy = policy(mode);
        assertThat(policy.retryDelayMillis(1, true, 0)).isEqualTo(200);
        assertThat(policy.retryDelayMillis(1, true, 0.999999)).isEqualTo(399);
        assertThat(policy.retryDelayMillis(2, true, 0)).isEqualTo(400);
        assertThat(policy.retryDelayMillis(1_000, true, 0)).isEqualTo(5_000);
    }

    @Test
    void fixed_givesUpAfterSoManyFailures() {
        RetryPolicy policy = policy("fixed");
        assertThat(policy.givesUpAfter(2)).isFalse();
        assertThat(policy.givesUpAfter(3)).isTrue();
        assertThat(policy.retryDelayMillis(2, false, 0.5)).isEqualTo(100);
    }

    @Test
    void largeSegments_areTimedOutLater() {
        RetryPolicy policy = policy("until-success");
        assertThat(policy.timeoutMillis(1)).isEqualTo(1_000);
        assertThat(policy.timeoutMillis(15 << 20)).isEqualTo(1_000);
        assertThat(policy.timeoutMillis(32 << 20)).isEqualTo(4_000);
    }

    @Test
    void attemptMayBeSilentForAMinute_andForAsLongAsASlowLinkNeedsForAllBytes() {
        RetryPolicy policy = policy("none");
        assertThat(policy.hangMillis(1)).isEqualTo(60_000);
        assertThat(policy.hangMillis(64 << 10)).isEqualTo(61_000);
        assertThat(policy.hangMillis(64 << 20)).isEqualTo(60_000 + 1_024_000);
    }

    @Test
    void none_givesUpAfterTheFirstFailure_andStartsNoSecondAttempt() {
        RetryPolicy policy = policy("none");
        assertThat(policy.givesUpAfter(0)).isFalse();
        assertThat(policy.givesUpAfter(1)).isTrue();
        assertThat(policy.allowsSecondAttempts()).isFalse();
        assertThat(policy("fixed").allowsSecondAttempts()).isTrue();
    }

    private static RetryPolicy policy(String mode) {
        return new RetryPolicy(
                DstlSettings.from(
                        new Configuration()
                                .set(DstlOptions.BASE_PATH, "file:/tmp/log")
                                .set(DstlOptions.RETRY_POLICY, mode)
                                .set(DstlOptions.NEXT_ATTEMPT_DELAY, Duration.ofMillis(100))));
    }
}
