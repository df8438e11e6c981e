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

package dev.dstl.log.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.testing.ManualTimers;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CompactionThrottleTest {

    private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);

    private final ManualTimers timers = new ManualTimers();
    private final CompactionThrottle throttle = new CompactionThrottle(timers);

    @Test
    void afterASecondOfWork_noTimeForAnother29() {
        assertThat(throttle.hasTime()).isTrue();
        workMillis(1_000);
        assertThat(throttle.hasTime()).isFalse();
        timers.advanceMillis(28_999);
        assertThat(throttle.hasTime()).isFalse();
        timers.advanceMillis(1);
        assertThat(throttle.hasTime()).isTrue();
    }

    @Test
    void shortWorkAfterLongWork_doesNotShortenThePause() {
        workMillis(1_000);
        workMillis(10);
        timers.advanceMillis(29_000);
        assertThat(throttle.hasTime()).isFalse();
        timers.advanceMillis(290);
        assertThat(throttle.hasTime()).isTrue();
    }

    @Test
    void slowReadsForAnHour_requireAPauseOfHalfAnHour() {
        long start = timers.nanoTime();
        timers.advanceMillis(HOUR_MILLIS);
        for (int i = 0; i < Compactor.MAX_READING; i++) {
            throttle.worked(start);
        }
        timers.advanceMillis(HOUR_MILLIS / 2 - 1);
        assertThat(throttle.hasTime()).isFalse();
        timers.advanceMillis(1);
        assertThat(throttle.hasTime()).isTrue();
        workMillis(1_000);
        timers.advanceMillis(29_000);
        assertThat(throttle.hasTime()).isTrue();
    }

    private void workMillis(long millis) {
        long start = timers.nanoTime();
        timers.advanceMillis(millis);
        throttle.worked(start);
    }
}
