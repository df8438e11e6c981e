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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.io.AvailabilityProvider;
import org.junit.jupiter.api.Test;

class InFlightBudgetTest {

    private final InFlightBudget budget = new InFlightBudget(100);

    @Test
    void belowTheLimit_tasksTakeInput() {
        budget.reserve(99);
        assertThat(budget.getAvailableFuture()).isSameAs(AvailabilityProvider.AVAILABLE);
    }

    @Test
    void atTheLimit_tasksStop_andGoOnWhenBytesAreReleased() {
        budget.reserve(60);
        budget.reserve(60);
        CompletableFuture<?> waiting = budget.getAvailableFuture();
        assertThat(waiting).isNotDone();
        budget.release(10);
        assertThat(waiting).isNotDone();
        budget.release(11);
        assertThat(waiting).isCompleted();
        assertThat(budget.getAvailableFuture()).isSameAs(AvailabilityProvider.AVAILABLE);
        assertThat(budget.reservedBytes()).isEqualTo(99);
    }

    @Test
    void reservingBeyondTheLimit_neverFails() {
        budget.reserve(100);
        budget.reserve(1_000);
        assertThat(budget.reservedBytes()).isEqualTo(1_100);
    }

    @Test
    void releasingMoreThanReserved_isADefect() {
        budget.reserve(1);
        assertThatThrownBy(() -> budget.release(2))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Cannot release 2 bytes of 1");
    }
}
