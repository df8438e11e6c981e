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

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Size;

class PercentilesPropertyTest {

    @Property
    void enoughOfTheSampleIsNotAbove_andNoSmallerValueWouldDo(
            @ForAll @Size(min = 1, max = 200) long[] values,
            @ForAll @DoubleRange(min = 0.5, max = 100) double percent) {
        long value = Percentiles.of(Arrays.stream(values)).at(percent);

        double wanted = percent / 100 * values.length;
        assertThat((double) Arrays.stream(values).filter(each -> each <= value).count())
                .isGreaterThanOrEqualTo(wanted);
        assertThat((double) Arrays.stream(values).filter(each -> each < value).count())
                .isLessThan(wanted);
    }
}
