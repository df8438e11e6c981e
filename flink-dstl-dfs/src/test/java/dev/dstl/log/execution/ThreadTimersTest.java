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

package dev.dstl.log.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ThreadTimersTest {

    private static final int RUNS = 3;

    @Test
    void periodicAction_goesOn_whateverItThrows() throws InterruptedException {
        CountDownLatch runs = new CountDownLatch(RUNS);
        try (ThreadTimers timers = new ThreadTimers("test-timer")) {
            timers.every(
                    1,
                    () -> {
                        runs.countDown();
                        throw new IllegalStateException("refused by the test");
                    });
            assertThat(runs.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void closedTimers_takeActions_andDropThem() {
        ThreadTimers timers = new ThreadTimers("test-timer");
        timers.close();
        timers.every(1, () -> {});
        timers.schedule(() -> {}, 1).cancel();
    }
}
