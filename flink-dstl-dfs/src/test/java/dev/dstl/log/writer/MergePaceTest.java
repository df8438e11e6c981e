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

package dev.dstl.log.writer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.testing.ManualTimers;
import org.junit.jupiter.api.Test;

class MergePaceTest {

    private final ManualTimers timers = new ManualTimers();
    private final MergePace pace = new MergePace(timers);

    @Test
    void afterASecondOfWork_follow29OfRest() {
        assertThat(pace.isRested()).isTrue();
        workMillis(1_000);
        assertThat(pace.isRested()).isFalse();
        timers.advanceMillis(28_999);
        assertThat(pace.isRested()).isFalse();
        timers.advanceMillis(1);
        assertThat(pace.isRested()).isTrue();
    }

    @Test
    void shortWorkAfterLongWork_doesNotShortenTheRest() {
        workMillis(1_000);
        workMillis(10);
        timers.advanceMillis(29_000);
        assertThat(pace.isRested()).isFalse();
        timers.advanceMillis(290);
        assertThat(pace.isRested()).isTrue();
    }

    private void workMillis(long millis) {
        long start = timers.nanoTime();
        timers.advanceMillis(millis);
        pace.worked(start);
    }
}
