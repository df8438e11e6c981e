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

package dev.dstl.log.ownership;

import static dev.dstl.log.ownership.SegmentOwnership.JOB_MANAGER;
import static dev.dstl.log.ownership.SegmentOwnership.NOBODY;
import static dev.dstl.log.ownership.SegmentOwnership.TASK_MANAGER;
import static dev.dstl.log.ownership.SegmentOwnership.UPLOADING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SegmentOwnershipTest {

    @Test
    void onlyTheArrowsOfThePictureExist() {
        Map<SegmentOwnership, EnumSet<SegmentOwnership>> arrows =
                new EnumMap<>(SegmentOwnership.class);
        arrows.put(UPLOADING, EnumSet.of(TASK_MANAGER, NOBODY));
        arrows.put(TASK_MANAGER, EnumSet.of(JOB_MANAGER, NOBODY));
        arrows.put(JOB_MANAGER, EnumSet.of(TASK_MANAGER));
        arrows.put(NOBODY, EnumSet.noneOf(SegmentOwnership.class));
        for (SegmentOwnership from : SegmentOwnership.values()) {
            for (SegmentOwnership to : SegmentOwnership.values()) {
                if (arrows.get(from).contains(to)) {
                    assertThat(from.to(to)).isEqualTo(to);
                } else {
                    assertThatThrownBy(() -> from.to(to))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessage("A segment cannot go from " + from + " to " + to);
                }
            }
        }
    }
}
