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

package dev.dstl.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PercentilesTest {

    @Test
    void oneToAHundred_givesThePercentItself() {
        Percentiles sample = Percentiles.of(LongStream.rangeClosed(1, 100));

        assertThat(sample.at(50)).isEqualTo(50);
        assertThat(sample.at(99)).isEqualTo(99);
        assertThat(sample.at(100)).isEqualTo(100);
        assertThat(sample.at(0.1)).isEqualTo(1);
    }

    @Test
    void smallSample_hasItsLargestAsP99() {
        Percentiles sample = Percentiles.of(LongStream.of(30, 10, 20));

        assertThat(sample.at(50)).isEqualTo(20);
        assertThat(sample.at(99)).isEqualTo(30);
    }

    @Test
    void emptySample_hasNoPercentile() {
        Percentiles sample = Percentiles.of(LongStream.empty());

        assertThat(sample.count()).isZero();
        assertThatThrownBy(() -> sample.at(50))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("empty");
    }

    @Test
    void percentOutOfRange_isRefused() {
        Percentiles sample = Percentiles.of(LongStream.of(1));

        assertThatThrownBy(() -> sample.at(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> sample.at(100.5)).isInstanceOf(IllegalArgumentException.class);
    }
}
