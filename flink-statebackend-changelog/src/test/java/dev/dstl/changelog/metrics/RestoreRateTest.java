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

package dev.dstl.changelog.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RestoreRateTest {

    private final RestoreRate rate = new RestoreRate(16 << 20, 4 << 20);

    @Test
    void rate_isAssumedUntilItIsMeasured_andThenFollowsTheMeasurements() {
        assertThat(rate.bytesPerSecond()).isEqualTo(16 << 20);
        assertThat(rate.seconds(8 << 20)).isEqualTo(0.5);

        rate.measured(16 << 20, TimeUnit.MILLISECONDS.toNanos(100));
        assertThat(rate.bytesPerSecond()).isEqualTo(160 << 20);

        rate.measured(20 << 20, TimeUnit.SECONDS.toNanos(1));
        assertThat(rate.bytesPerSecond()).isEqualTo(90 << 20);
    }

    @Test
    void restoreOfHardlyAnything_saysNothingOfTheRate() {
        rate.measured((4 << 20) - 1, TimeUnit.SECONDS.toNanos(1));
        rate.measured(1 << 30, 0);
        assertThat(rate.bytesPerSecond()).isEqualTo(16 << 20);
    }
}
