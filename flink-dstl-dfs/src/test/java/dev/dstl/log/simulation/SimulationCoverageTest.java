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

package dev.dstl.log.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.simulation.invariant.Leftover;
import dev.dstl.log.simulation.world.Condition;
import org.junit.jupiter.api.Test;

/** Simulations reach the events in {@link Coverage}. */
class SimulationCoverageTest {

    private static final int SEEDS = 200;

    @Test
    void everythingHappensOften() throws Exception {
        SimulationRun run = SimulationRun.of(0, SEEDS);
        for (Coverage what : Coverage.values()) {
            assertThat(run.coverage().get(what)).as("%s", what).isGreaterThan(SEEDS / 4);
        }
        for (Condition condition : Condition.values()) {
            assertThat(run.conditions().getOrDefault(condition, 0L))
                    .as("seeds in which there is %s", condition)
                    .isGreaterThan(SEEDS * condition.percent() / 300);
        }
        assertThat(run.coverage().get(Coverage.COMPLETED_CHECKPOINTS)).isGreaterThan(10 * SEEDS);
        assertThat(run.leftovers())
                .containsKeys(
                        Leftover.WRITER_CRASHED,
                        Leftover.HANDLE_WAS_LOST,
                        Leftover.DELETE_WAS_REFUSED,
                        Leftover.ARRIVED_AFTER_DELETE);
    }
}
