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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class StoreProfileTest {

    private final StoreProfile.Builder profile = StoreProfile.builder();

    @Test
    void p99BelowP50_isRefusedWithBoth() {
        assertRefused(profile.latencyMillis(30, 20), "p99", "30 ms and 20 ms");
    }

    @Test
    void p99WithoutP50_isRefused() {
        assertRefused(profile.latencyMillis(0, 20), "p99", "0 ms and 20 ms");
    }

    @Test
    void fractionAboveOne_isRefusedWithNameAndValue() {
        assertRefused(profile.tail(1.5, 3000), "fraction tail", "1.5");
    }

    @Test
    void fractionThatIsNoNumber_isRefused() {
        assertRefused(profile.failedFraction(Double.NaN), "fraction failed", "NaN");
    }

    @Test
    void faultsThatTogetherExceedAllRequests_areRefused() {
        assertRefused(
                profile.throttledFraction(0.5).failedFraction(0.4).lostAcknowledgementFraction(0.2),
                "together",
                "1.1");
    }

    @Test
    void negativeLimits_areRefused() {
        assertRefused(StoreProfile.builder().bytesPerSecond(-1), "bandwidth", "-1");
        assertRefused(StoreProfile.builder().requestsPerSecond(-2), "request rate", "-2");
        assertRefused(StoreProfile.builder().tail(0, -3), "tail", "-3");
        assertRefused(StoreProfile.builder().latencyMillis(-4, 5), "p50", "-4");
    }

    @Test
    void equalValues_makeEqualProfiles() {
        assertThat(StoreProfile.builder().latencyMillis(3, 9).build())
                .isEqualTo(StoreProfile.builder().latencyMillis(3, 9).build())
                .isNotEqualTo(StoreProfile.builder().latencyMillis(3, 8).build());
    }

    private static void assertRefused(StoreProfile.Builder builder, String... parts) {
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(parts);
    }
}
