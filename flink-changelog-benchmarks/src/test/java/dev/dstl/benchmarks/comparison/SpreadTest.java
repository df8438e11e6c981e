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

package dev.dstl.benchmarks.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SpreadTest {

    @Test
    void medianOfAnOddNumber_isAValue() {
        assertThat(Spread.of(3, 1, 2).median()).isEqualTo(2);
    }

    @Test
    void medianOfAnEvenNumber_isBetweenTheMiddleTwo() {
        assertThat(Spread.of(4, 1, 2, 100).median()).isEqualTo(3);
    }

    @Test
    void nothing_hasNoSpread() {
        assertThatThrownBy(Spread::of).isInstanceOf(IllegalArgumentException.class);
    }
}
