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

package dev.dstl.benchmarks.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ConstantRateTest {

    private static final long RECORDS = 1_000_000_000_000L;
    private static final long MILLISECOND = 1_000_000;

    @Test
    void recordsComeAtTheRate_fromWhereAReaderBegan() {
        ConstantRate pace = ConstantRate.of(RECORDS, 1000);
        double start = 5_000_000.0 / RECORDS;
        double later = 5_000_010.0 / RECORDS;

        assertThat(pace.waitNanos(start, 0, later)).isBetween(9 * MILLISECOND, 11 * MILLISECOND);
        assertThat(pace.waitNanos(start, 20 * MILLISECOND, later)).isNegative();
    }

    @Test
    void unlimited_neverWaits() {
        assertThat(ConstantRate.unlimited().waitNanos(0, 0, 1)).isZero();
    }

    @Test
    void neverSprints() {
        assertThat(ConstantRate.of(RECORDS, 1).sprintsAt(1)).isFalse();
    }

    @Test
    void rateOfNothing_isAnError() {
        assertThatThrownBy(() -> ConstantRate.of(RECORDS, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("above 0");
    }
}
