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

package dev.dstl.benchmarks.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class VerificationTest {

    private final Verification verification =
            new Verification(Map.of("order 1", "price=10", "order 2", "price=20"));

    @Test
    void eachRowOnce_inAnyOrder_holds() {
        verification.row("order 2\tprice=20");
        verification.row("order 1\tprice=10");

        Verdict verdict = verification.verdict();

        assertThat(verdict.holds()).isTrue();
        assertThat(verdict).hasToString("all 2 rows exactly once");
    }

    @Test
    void lostRow_isFound() {
        verification.row("order 1\tprice=10");

        Verdict verdict = verification.verdict();

        assertThat(verdict.holds()).isFalse();
        assertThat(verdict.deviations()).containsExactly("1 lost:", "  order 2 price=20");
    }

    @Test
    void duplicateRow_isFound() {
        verification.row("order 1\tprice=10");
        verification.row("order 2\tprice=20");
        verification.row("order 1\tprice=10");

        assertThat(verification.verdict().deviations())
                .containsExactly("1 duplicate:", "  order 1 came 2 times, now with price=10");
    }

    @Test
    void wrongValue_isFound() {
        verification.row("order 1\tprice=11");
        verification.row("order 2\tprice=20");

        assertThat(verification.verdict().deviations())
                .containsExactly("1 wrong:", "  order 1 is price=11 and should be price=10");
    }

    @Test
    void rowThatNobodyExpects_isFound() {
        verification.row("order 1\tprice=10");
        verification.row("order 2\tprice=20");
        verification.row("order 3\tprice=30");
        verification.row("garbage");

        assertThat(verification.verdict().deviations())
                .containsExactly("2 unexpected:", "  order 3\tprice=30", "  garbage");
    }

    @Test
    void manyDeviations_areCountedAndOnlyTheFirstShown() {
        for (int i = 0; i < 100; i++) {
            verification.row("order 1\tprice=10");
        }
        verification.row("order 2\tprice=20");

        assertThat(verification.verdict().deviations()).hasSize(6).startsWith("99 duplicate:");
    }

    @Test
    void noRowsAtAll_doesNotHold() {
        assertThat(verification.verdict().holds()).isFalse();
    }
}
