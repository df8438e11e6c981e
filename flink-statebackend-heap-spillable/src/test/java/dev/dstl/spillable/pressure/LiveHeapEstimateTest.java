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

package dev.dstl.spillable.pressure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LiveHeapEstimateTest {

    private final LiveHeapEstimate estimate = new LiveHeapEstimate();

    @Test
    void aFullCollection_tellsTheLiveBytesAtOnce() {
        assertThat(estimate.collected("G1 Old Generation", "end of major GC", 70)).hasValue(70);
        assertThat(estimate.collected("PS MarkSweep", "end of major GC", 60)).hasValue(60);
        assertThat(estimate.collected("ZGC Cycles", "end of GC cycle", 50)).hasValue(50);
    }

    @Test
    void youngCollections_tellNothing() {
        assertThat(estimate.collected("PS Scavenge", "end of minor GC", 70)).isEmpty();
        assertThat(estimate.collected("ZGC Pauses", "end of GC pause", 70)).isEmpty();
        assertThat(estimate.collected("G1 Young Generation", "end of minor GC", 70)).isEmpty();
    }

    @Test
    void whatG1LeavesAtLeastOverManyCollections_isTakenForLive() {
        for (int i = 0; i < 7; i++) {
            assertThat(estimate.collected("G1 Young Generation", "end of minor GC", 90 - i))
                    .isEmpty();
        }
        assertThat(estimate.collected("G1 Young Generation", "end of minor GC", 80)).hasValue(80);
        assertThat(estimate.collected("G1 Young Generation", "end of minor GC", 40)).hasValue(40);
    }

    @Test
    void afterARestart_theWindowFillsAnew() {
        for (int i = 0; i < 8; i++) {
            estimate.collected("G1 Young Generation", "end of minor GC", 10);
        }
        estimate.restart();

        assertThat(estimate.collected("G1 Young Generation", "end of minor GC", 90)).isEmpty();
    }
}
