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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The size of a checkpoint, in jobs of which only sizes and speeds exist: base + changelog <= base
 * + max(half of the base, four checkpoints, 8 MiB), and what comes while a materialization runs or
 * must wait. What decides when to compact and when to materialize is the product's.
 */
class FullSizePropertyTest {

    private static final int CHECKPOINTS = 400;

    @Property(tries = 1000)
    void checkpoint_isNoLargerThanTheRuleSays(@ForAll long seed) {
        verify(SimulatedSubtask.random(new Random(seed)));
    }

    @Property(tries = 1000)
    void withLessTimeForMaterializations_checkpointIsNoLargerThanTheRuleSays(@ForAll long seed) {
        verify(SimulatedSubtask.random(new Random(seed), 0.1));
    }

    private static void verify(SimulatedSubtask subtask) {
        for (int i = 0; i < CHECKPOINTS; i++) {
            subtask.checkpoint();

            assertThat(subtask.changelogBytes())
                    .as("changelog of checkpoint %s, %s", i, subtask)
                    .isLessThanOrEqualTo(subtask.allowedBytes());
            assertThat(subtask.busyMillis())
                    .as("time without a chance to materialize, checkpoint %s, %s", i, subtask)
                    .isLessThanOrEqualTo(subtask.longestBusyMillis());
        }
    }

    @Property(tries = 500)
    void whereMaterializationKeepsUp_nothingIsAddedToTheRule(@ForAll long seed) {
        SimulatedSubtask subtask = SimulatedSubtask.withFastStore(new Random(seed));
        for (int i = 0; i < CHECKPOINTS; i++) {
            subtask.checkpoint();

            assertThat(subtask.changelogBytes())
                    .as("changelog of checkpoint %s, %s", i, subtask)
                    .isLessThanOrEqualTo(subtask.ruleBytes());
        }
    }

    /** A base is at most the old one plus the changelog, which has at least 3/8 of the old base. */
    @Property(tries = 1000)
    void materializations_uploadAtMostElevenThirdsOfWhatIsLogged(@ForAll long seed) {
        SimulatedSubtask subtask = SimulatedSubtask.random(new Random(seed));
        for (int i = 0; i < CHECKPOINTS; i++) {
            subtask.checkpoint();
        }

        assertThat(subtask.materializedBytes())
                .as("%s", subtask)
                .isLessThanOrEqualTo(subtask.loggedBytes() / 3 * 11 + 3);
        assertThat(subtask.materializations())
                .as("one for four checkpoints at most, %s", subtask)
                .isLessThanOrEqualTo(CHECKPOINTS / 4);
    }

    @Property(tries = 1000)
    void slowRestores_leadToNoMoreBasesThanTheSizeOfAChangelogThatIsMeasured(@ForAll long seed) {
        SimulatedSubtask subtask = SimulatedSubtask.afterSlowRestores(new Random(seed));
        for (int i = 0; i < CHECKPOINTS; i++) {
            subtask.checkpoint();
        }

        assertThat((long) subtask.materializations())
                .as("%s", subtask)
                .isLessThanOrEqualTo(subtask.loggedBytes() / SimulatedSubtask.LEAST_MEASURED_BYTES);
    }

    /** 72 MB in an hour. */
    @ParameterizedTest
    @ValueSource(ints = {1, 20})
    void slowRestores_doNotLetASubtaskMaterializeAllTheTime(int slowRestores) {
        SimulatedSubtask subtask = SimulatedSubtask.steady(slowRestores, 1 << 20, 20_000, 0.5, 50);
        for (int second = 0; second < 3_600; second++) {
            subtask.checkpoint();
        }

        assertThat(subtask.materializations()).isLessThanOrEqualTo(17);
    }

    /** A base of some KB with MB of changes per checkpoint. */
    @Test
    void tinyState_isNotMaterializedAtEachCheckpoint() {
        SimulatedSubtask subtask = SimulatedSubtask.steady(10_000, 3 << 20, 0.01, 50);
        for (int i = 0; i < CHECKPOINTS; i++) {
            subtask.checkpoint();
        }

        assertThat(subtask.materializations()).isLessThanOrEqualTo(CHECKPOINTS / 4);
        assertThat(subtask.compactions()).isZero();
        assertThat(subtask.largestChangelogBytes())
                .as("four checkpoints")
                .isLessThanOrEqualTo(4 * ((3 << 20) + 1));
    }

    /** WordCount on a HashMap at its maximum rate, a materialization of 26 MB takes 0.4 s. */
    @Test
    void checkpointsOfHalfTheState_keepTheFullSizeBelow3Times() {
        long base = 26_000_000;
        SimulatedSubtask subtask = SimulatedSubtask.steady(base, base * 53 / 100, 0.5, 400);
        for (int i = 0; i < CHECKPOINTS; i++) {
            subtask.checkpoint();
        }

        assertThat((base + subtask.largestChangelogBytes()) / (double) base).isLessThan(3.2);
    }
}
