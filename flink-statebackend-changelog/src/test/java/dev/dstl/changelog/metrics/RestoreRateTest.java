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
        assertThat(rate.bytesPerSecond()).as("assumed and measured").isEqualTo(88 << 20);

        rate.measured(20 << 20, TimeUnit.SECONDS.toNanos(1));
        assertThat(rate.bytesPerSecond()).isEqualTo(54 << 20);
    }

    @Test
    void singleSlowRestore_weighsNoMoreThanTheAssumedRate_andIsSoonForgotten() {
        rate.measured(5 << 20, TimeUnit.SECONDS.toNanos(75));
        assertThat(rate.bytesPerSecond()).isGreaterThan(8 << 20);

        for (int restore = 0; restore < 3; restore++) {
            rate.measured(5 << 20, TimeUnit.MILLISECONDS.toNanos(50));
        }
        assertThat(rate.bytesPerSecond()).as("of 100 MiB/s").isGreaterThan(85 << 20);
    }

    /** The reads of all tasks of a process hang if the store does. */
    @Test
    void slowRestoresOfManyTasks_areForgotten_evenIfAllLaterOnesAreSmall() {
        for (int task = 0; task < 20; task++) {
            rate.measured(5 << 20, TimeUnit.SECONDS.toNanos(75));
        }
        assertThat(rate.bytesPerSecond()).isLessThan(70 << 10);

        for (int restore = 0; restore < 8; restore++) {
            rate.measured(2 << 20, TimeUnit.MILLISECONDS.toNanos(100));
        }
        assertThat(rate.bytesPerSecond()).as("near 16 MiB/s").isGreaterThan(14 << 20);
    }

    @Test
    void smallRestore_neverShowsMoreThanTheAssumedRate() {
        rate.measured(3 << 20, 1);
        assertThat(rate.bytesPerSecond()).isEqualTo(16 << 20);

        rate.measured(4 << 20, TimeUnit.SECONDS.toNanos(1));
        for (int restore = 0; restore < 1_000; restore++) {
            rate.measured(3 << 20, 1);
        }
        assertThat(rate.bytesPerSecond()).isLessThanOrEqualTo(16 << 20);
    }

    @Test
    void restoreOfHardlyAnything_saysNothingOfTheRate() {
        rate.measured((4 << 20) - 1, TimeUnit.SECONDS.toNanos(1));
        rate.measured(1 << 30, 0);
        assertThat(rate.bytesPerSecond()).isEqualTo(16 << 20);
    }
}
