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

package dev.dstl.spillable.entry;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class OffHeapBudgetTest {

    @Property
    void blocks_getWhatTheIndexLeaves_butNeverLessThanAQuarter(
            @ForAll @LongRange(min = 1024, max = 1L << 40) long limit,
            @ForAll @LongRange(max = 1L << 41) long index) {
        OffHeapBudget budget = new OffHeapBudget(limit, () -> {});
        budget.addIndex(index);

        assertThat(budget.blockLimitBytes()).isBetween(limit / 4, limit);
        if (index <= limit / 2) {
            assertThat(budget.blockLimitBytes() + index).isEqualTo(limit);
        }
    }

    @Property
    void thereIsRoomToSpill_untilTheIndexTakesSevenEighths(
            @ForAll @LongRange(min = 1024, max = 1L << 40) long limit,
            @ForAll @LongRange(max = 1L << 41) long index) {
        OffHeapBudget budget = new OffHeapBudget(limit, () -> {});
        budget.addIndex(index);

        assertThat(budget.hasRoom()).isEqualTo(index < limit - limit / 8);
    }

    @Example
    void whatIsGivenBack_canBeUsedAgain() {
        OffHeapBudget budget = new OffHeapBudget(1000, () -> {});
        budget.addIndex(900);
        budget.addBlock(300);
        assertThat(budget.hasRoom()).isFalse();

        budget.addIndex(-900);
        budget.addBlock(-100);

        assertThat(budget.hasRoom()).isTrue();
        assertThat(budget.indexBytes()).isZero();
        assertThat(budget.blockBytes()).isEqualTo(200);
        assertThat(budget.limitBytes()).isEqualTo(1000);
    }
}
