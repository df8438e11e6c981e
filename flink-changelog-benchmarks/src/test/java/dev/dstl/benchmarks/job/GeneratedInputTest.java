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

package dev.dstl.benchmarks.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.flink.api.java.tuple.Tuple2;
import org.junit.jupiter.api.Test;

class GeneratedInputTest {

    @Test
    void sameStripe_givesTheSameEvents() {
        PayloadInput input = PayloadInput.mostlyNewKeys();

        assertThat(keys(input.read(7))).isEqualTo(keys(input.read(7)));
        assertThat(input.read(7).get(3).f1).isEqualTo(input.read(7).get(3).f1);
    }

    @Test
    void nineOfTenKeys_areNew_theOthersWereThereBefore() {
        PayloadInput input = PayloadInput.mostlyNewKeys();
        Set<Long> seen = new HashSet<>();
        int old = 0;
        for (long number = 0; number < 10_000; number++) {
            old += seen.add(input.event(number).f0) ? 0 : 1;
        }

        assertThat(old).isEqualTo(1000);
    }

    @Test
    void keysOfASet_stayInIt() {
        PayloadInput input = PayloadInput.ofKeys(50);
        Set<Long> seen = new HashSet<>();
        for (long number = 0; number < 10_000; number++) {
            seen.add(input.event(number).f0);
        }

        assertThat(seen)
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.range(0, 50).boxed().collect(Collectors.toList()));
    }

    @Test
    void payloads_differ() {
        PayloadInput input = PayloadInput.ofKeys(50);
        Set<String> seen = new HashSet<>();
        for (long number = 0; number < 1000; number++) {
            byte[] payload = input.event(number).f1;
            assertThat(payload).hasSize(80);
            seen.add(Arrays.toString(payload));
        }

        assertThat(seen).hasSize(1000);
    }

    @Test
    void everyWordComesOnce_beforeAnyComesAgain() {
        WordInput input = new WordInput(500);
        Set<String> first = new HashSet<>();
        for (long number = 0; number < 500; number++) {
            first.add(input.event(number));
        }

        assertThat(first).hasSize(500).allMatch(word -> word.matches("[0-9a-f]{16}"));
        for (long number = 500; number < 5000; number++) {
            assertThat(first).contains(input.event(number));
        }
    }

    private static List<Long> keys(List<Tuple2<Long, byte[]>> events) {
        return events.stream().map(event -> event.f0).collect(Collectors.toList());
    }
}
