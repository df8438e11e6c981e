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

import dev.dstl.log.simulation.cluster.Mutant;
import dev.dstl.log.simulation.invariant.Leftover;
import dev.dstl.log.simulation.schedule.Trace;
import dev.dstl.log.simulation.world.Conditions;
import dev.dstl.log.store.SegmentName;
import java.util.List;
import java.util.Map;

/** The result of one seed. Immutable. */
final class SimulationResult {

    private final long seed;
    private final Mutant mutant;
    private final Trace trace;
    private final long steps;
    private final long millis;
    private final List<String> violated;
    private final List<String> violations;
    private final Map<Coverage, Long> coverage;
    private final Conditions conditions;
    private final Map<Leftover, List<SegmentName>> leftovers;

    SimulationResult(
            long seed,
            Mutant mutant,
            Trace trace,
            long steps,
            long millis,
            Watchers watchers,
            Map<Coverage, Long> coverage,
            Conditions conditions,
            Map<Leftover, List<SegmentName>> leftovers) {
        this.seed = seed;
        this.mutant = mutant;
        this.trace = trace;
        this.steps = steps;
        this.millis = millis;
        this.violated = List.copyOf(watchers.violated());
        this.violations = List.copyOf(watchers.violations());
        this.coverage = coverage;
        this.conditions = conditions;
        this.leftovers = leftovers;
    }

    boolean isViolated() {
        return !violations.isEmpty();
    }

    /** Names of the invariants that do not hold. */
    List<String> violated() {
        return violated;
    }

    long seed() {
        return seed;
    }

    Trace trace() {
        return trace;
    }

    long steps() {
        return steps;
    }

    /** Number of occurrences of each event. */
    Map<Coverage, Long> coverage() {
        return coverage;
    }

    /** Conditions of the seed. */
    Conditions conditions() {
        return conditions;
    }

    Map<Leftover, List<SegmentName>> leftovers() {
        return leftovers;
    }

    /** Violations, and the command that reproduces them. */
    @Override
    public String toString() {
        return String.format(
                "seed %d%s, %d steps, %d ms, %s: %s%n    %s",
                seed,
                mutant == Mutant.NONE ? "" : " with " + mutant,
                steps,
                millis,
                conditions,
                violations,
                replayCommand(seed));
    }

    /** Shell command, to be run in the root directory of the project. */
    static String replayCommand(long seed) {
        return "./mvnw -pl flink-dstl-dfs test -Dtest=SimulationTest"
                + " -Dsimulation.count=1 -Dsimulation.first="
                + seed;
    }
}
