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
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Mutation testing: injected defects are found within a few seeds, by the invariant they violate.
 */
class SimulationMutationTest {

    private static final int SEEDS = 150;

    @ParameterizedTest
    @CsvSource({
        "CLOSE_FAILURE_SWALLOWED, EveryConfirmedPositionReadable",
        "NOTHING_DISCARDED, NothingUnreferencedLeftAfterQuiescence",
        "LATER_ATTEMPTS_FORGOTTEN, NothingUnreferencedLeftAfterQuiescence",
        "RETRIES_FORGOTTEN, Liveness",
        "UPLOADS_DAWDLE, Liveness",
        "EVERYTHING_SENT_TWICE, Frugality",
        "BUDGET_WITHOUT_LIMIT, BoundedMemory",
        "COMPACTIONS_FORGOTTEN, BoundedRuns",
        "AGE_FORGOTTEN, UploadedInTime",
        "LOCAL_COPIES_LOST, LocalCopiesStay",
        "INCARNATION_REUSED, AtMostOneOwner",
        "DROPPED_HANDLE_FORGOTTEN, NothingUnreferencedLeftAfterQuiescence",
        "ABORT_DELETES, AtMostOneOwner",
        "UNCONFIRMED_DELETED_ON_CLOSE, NoReferencedSegmentDeleted",
        "POSITION_DROPPED, ReplayEqualsModel",
        "BUDGET_LEAKS, BudgetReturnsToZero",
        "NOTHING_COUNTED, IncrementalSizes",
    })
    void defectIsFound(Mutant mutant, String invariant) {
        Map<String, Integer> found = new TreeMap<>();
        for (long seed = 0; seed < SEEDS && !found.containsKey(invariant); seed++) {
            SimulationRun.single(seed, mutant, false)
                    .violated()
                    .forEach(name -> found.merge(name, 1, Integer::sum));
        }
        assertThat(found).as("what the invariants said in %d seeds", SEEDS).containsKey(invariant);
    }
}
