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

package dev.dstl.spillable.overlay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PartitionMergeTest {

    @Test
    void unevenSides_areSplitOnlyIfTheWholeWereTooLongForAFile() {
        assertThat(PartitionMerge.isSplit(5000, 2000, 5 << 20)).isTrue();
        assertThat(PartitionMerge.isSplit(5000, 1, 5 << 20)).isFalse();
        assertThat(PartitionMerge.isSplit(2, 1, 5 << 20)).isTrue();
        assertThat(PartitionMerge.isSplit(2, 0, 5 << 20)).isFalse();
        assertThat(PartitionMerge.isSplit(5000, 1, 3L << 30)).isTrue();
        assertThat(PartitionMerge.isSplit(2, 0, 3L << 30)).isTrue();
    }
}
