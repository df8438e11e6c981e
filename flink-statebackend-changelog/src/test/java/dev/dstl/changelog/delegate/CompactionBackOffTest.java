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

package dev.dstl.changelog.delegate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class CompactionBackOffTest {

    private static final int STATE = 1;
    private static final int OTHER = 2;
    private static final long MB = 1 << 20;

    private final CompactionBackOff backOff = new CompactionBackOff();

    @Test
    void nothingIsSkipped_beforeTheFirstCompaction() {
        assertThat(skippedInARow(STATE)).isZero();
    }

    @Test
    void whileLittleIsSaved_moreAndMoreIsSkipped_atMost32InARow() {
        List<Integer> skipped = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            backOff.compacted(STATE, 10 * MB, 0);
            skipped.add(skippedInARow(STATE));
        }
        assertThat(skipped).containsExactly(1, 2, 4, 8, 16, 32, 32, 32);
    }

    @Test
    void lessThanAFifthIsLittle() {
        backOff.compacted(STATE, 10 * MB, 2 * MB);
        assertThat(skippedInARow(STATE)).isZero();

        backOff.compacted(STATE, 10 * MB, 2 * MB - 1);
        assertThat(skippedInARow(STATE)).isEqualTo(1);
    }

    @Test
    void compactionThatHasRewrittenNothing_costNothing() {
        backOff.compacted(STATE, 0, 0);
        assertThat(skippedInARow(STATE)).isZero();
    }

    @Test
    void compactionThatSavesEnough_endsIt() {
        for (int i = 0; i < 8; i++) {
            backOff.compacted(STATE, 10 * MB, -MB);
        }
        skippedInARow(STATE);
        backOff.compacted(STATE, 10 * MB, 9 * MB);
        assertThat(skippedInARow(STATE)).isZero();

        backOff.compacted(STATE, 10 * MB, 0);
        assertThat(skippedInARow(STATE)).isEqualTo(1);
    }

    @Test
    void columnFamilies_areIndependent() {
        backOff.compacted(STATE, 10 * MB, 0);
        backOff.compacted(OTHER, 10 * MB, 9 * MB);
        assertThat(skippedInARow(OTHER)).isZero();
        assertThat(skippedInARow(STATE)).isEqualTo(1);
    }

    @Test
    void columnFamiliesThatAreGone_areForgotten() {
        backOff.compacted(STATE, 10 * MB, 0);
        backOff.compacted(OTHER, 10 * MB, 0);
        backOff.retain(Set.of(OTHER));
        assertThat(skippedInARow(STATE)).isZero();
        assertThat(skippedInARow(OTHER)).isEqualTo(1);
    }

    @Property
    void whateverWasSaved_atMost32AreSkippedInARow_andNoneAfterOneThatSavedEnough(
            @ForAll long seed) {
        CompactionBackOff random = new CompactionBackOff();
        Random saving = new Random(seed);
        double usually = saving.nextDouble() / 2;
        for (int i = 0; i < 200; i++) {
            long saved = (long) (10 * MB * (usually + saving.nextGaussian() / 10));
            random.compacted(STATE, 10 * MB, saved);
            int skipped = skippedInARow(random, STATE);
            if (saved >= 2 * MB) {
                assertThat(skipped).isZero();
            } else {
                assertThat(skipped).isBetween(1, 32);
            }
        }
    }

    private int skippedInARow(int columnFamily) {
        return skippedInARow(backOff, columnFamily);
    }

    private static int skippedInARow(CompactionBackOff backOff, int columnFamily) {
        int skipped = 0;
        while (backOff.skips(columnFamily)) {
            skipped++;
        }
        return skipped;
    }
}
