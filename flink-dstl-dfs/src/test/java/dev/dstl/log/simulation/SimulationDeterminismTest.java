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

import dev.dstl.log.simulation.cluster.Mutant;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SimulationDeterminismTest {

    @Test
    void sameSeed_sameTrace() {
        for (long seed = 0; seed < 20; seed++) {
            SimulationResult once = SimulationRun.single(seed, Mutant.NONE, false);
            SimulationResult again = SimulationRun.single(seed, Mutant.NONE, false);
            assertThat(again.trace().hash()).as("seed %d", seed).isEqualTo(once.trace().hash());
            assertThat(again.trace().length()).isEqualTo(once.trace().length());
        }
    }

    @Test
    void traceInWords_isTheSameTrace() {
        SimulationResult hashed = SimulationRun.single(1, Mutant.NONE, false);
        SimulationResult inWords = SimulationRun.single(1, Mutant.NONE, true);
        assertThat(inWords.trace().hash()).isEqualTo(hashed.trace().hash());
        assertThat(inWords.trace().lines()).hasSize((int) hashed.trace().length());
    }

    @Test
    void otherSeed_otherTrace() {
        Set<Long> hashes = new HashSet<>();
        for (long seed = 0; seed < 20; seed++) {
            hashes.add(SimulationRun.single(seed, Mutant.NONE, false).trace().hash());
        }
        assertThat(hashes).hasSize(20);
    }
}
