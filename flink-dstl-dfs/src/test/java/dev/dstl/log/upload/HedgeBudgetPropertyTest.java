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

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class HedgeBudgetPropertyTest {

    @Property
    void extraRequests_neverExceedTheirShare(
            @ForAll @DoubleRange(min = 0, max = 1) double fraction,
            @ForAll @Size(max = 400) List<Boolean> wanted) {
        HedgeBudget budget = new HedgeBudget(fraction);
        int needed = 0;
        int extra = 0;
        for (boolean hedge : wanted) {
            budget.earn(1_000);
            needed++;
            extra += hedge && budget.trySpend(1_000) ? 1 : 0;
            assertThat((double) extra).isLessThanOrEqualTo(fraction * needed + 1e-9);
        }
    }

    @Property
    void whatIsSaved_isBounded(@ForAll @DoubleRange(min = 0.01, max = 1) double fraction) {
        HedgeBudget budget = new HedgeBudget(fraction);
        for (int i = 0; i < 10_000; i++) {
            budget.earn(1_000);
        }
        int extra = 0;
        while (budget.trySpend(1_000)) {
            extra++;
        }
        assertThat(extra).isLessThanOrEqualTo(10);
    }

    @Property
    void requestsMadeInAnyCase_areMadeUpForLater(
            @ForAll @DoubleRange(min = 0.01, max = 1) double fraction) {
        HedgeBudget budget = new HedgeBudget(fraction);
        budget.spend(1_000);
        int needed = 0;
        while (!budget.trySpend(1_000)) {
            budget.earn(1_000);
            needed++;
        }
        assertThat(needed * fraction).isGreaterThanOrEqualTo(2 - 1e-6);
    }

    @Property
    void extraBytes_neverExceedTheirShare_whateverTheirSizes(
            @ForAll @DoubleRange(min = 0, max = 1) double fraction,
            @ForAll @Size(max = 400) List<@IntRange(min = 1, max = 10_000_000) Integer> sizes) {
        HedgeBudget budget = new HedgeBudget(fraction);
        long needed = 0;
        long extra = 0;
        for (int bytes : sizes) {
            budget.earn(bytes);
            needed += bytes;
            extra += budget.trySpend(bytes) ? bytes : 0;
            assertThat((double) extra).isLessThanOrEqualTo(fraction * needed + 1e-3);
        }
    }
}
