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

package dev.dstl.spillable.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ResidencyTest {

    private static final Map<Residency, Set<Residency>> ARROWS = new EnumMap<>(Residency.class);

    static {
        ARROWS.put(Residency.ON_HEAP, EnumSet.of(Residency.SPILLING));
        ARROWS.put(Residency.SPILLING, EnumSet.of(Residency.SPILLED, Residency.LOADING));
        ARROWS.put(Residency.SPILLED, EnumSet.of(Residency.LOADING));
        ARROWS.put(Residency.LOADING, EnumSet.of(Residency.ON_HEAP, Residency.SPILLING));
    }

    @ParameterizedTest
    @EnumSource
    void onlyTheArrowsOfThePicture_areAllowed(Residency from) {
        for (Residency to : Residency.values()) {
            if (ARROWS.get(from).contains(to)) {
                assertThat(from.to(to)).isEqualTo(to);
            } else {
                assertThatThrownBy(() -> from.to(to))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("A key group cannot go from " + from + " to " + to);
            }
        }
    }

    @Test
    void newEntries_goWhereTheGroupIsGoing() {
        assertThat(Residency.SPILLING.spillsNewEntries()).isTrue();
        assertThat(Residency.SPILLED.spillsNewEntries()).isTrue();
        assertThat(Residency.LOADING.spillsNewEntries()).isFalse();
        assertThat(Residency.ON_HEAP.spillsNewEntries()).isFalse();
    }
}
