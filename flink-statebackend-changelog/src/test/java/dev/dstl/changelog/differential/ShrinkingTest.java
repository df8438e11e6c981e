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

package dev.dstl.changelog.differential;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.differential.history.History;
import dev.dstl.changelog.differential.history.Step;
import dev.dstl.changelog.differential.world.Conditions;
import dev.dstl.changelog.differential.world.Violation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShrinkingTest {

    private static final History HISTORY = History.of(1);
    private static final List<Step> STEPS = HISTORY.steps();
    private static final int FAILING = STEPS.size() / 2;

    private final List<History> runs = new ArrayList<>();

    @Test
    void keepsTheStepsThatTheFailureNeeds() throws Exception {
        List<Step> needed = List.of(STEPS.get(3), STEPS.get(FAILING));

        DifferentialResult smallest = Shrinking.of(run(HISTORY, needed), h -> run(h, needed));

        assertThat(smallest.history().steps()).isEqualTo(needed);
    }

    @Test
    void neverTriesAStepBehindTheOneThatFailed() throws Exception {
        List<Step> needed = List.of(STEPS.get(FAILING));
        DifferentialResult failing = run(HISTORY, needed);
        runs.clear();

        Shrinking.of(failing, history -> run(history, needed));

        List<Step> later = STEPS.subList(FAILING + 1, STEPS.size());
        assertThat(runs)
                .isNotEmpty()
                .allSatisfy(run -> assertThat(run.steps()).doesNotContainAnyElementsOf(later));
    }

    @Test
    void saysWhichStepFailed() {
        String story = run(HISTORY, List.of(STEPS.get(FAILING))).story();

        assertThat(story)
                .contains(
                        "\n  " + STEPS.get(FAILING - 1) + ": done\n  FAILED " + STEPS.get(FAILING));
    }

    /** Fails at the last of some steps if the history contains all of them. */
    private DifferentialResult run(History history, List<Step> needed) {
        runs.add(history);
        Trace trace = new Trace();
        int met = 0;
        for (Step step : history.steps()) {
            trace.begin(step.toString());
            if (met < needed.size() && step == needed.get(met) && ++met == needed.size()) {
                return result(history, trace, new Violation("Failed: as it should"));
            }
            trace.end("done");
        }
        return result(history, trace, null);
    }

    private static DifferentialResult result(History history, Trace trace, Throwable failure) {
        return new DifferentialResult(history, trace, new Conditions(), failure);
    }
}
