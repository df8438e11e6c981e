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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TimerThreadTest {

    private boolean noThread;

    private final TimerThread clock =
            new TimerThread(
                    action -> {
                        if (noThread) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        return new Thread(action);
                    },
                    60);

    @AfterEach
    void close() {
        clock.shutdownNow();
    }

    @Test
    void timerForWhichNoThreadCanBeStarted_isNotInTheQueue() {
        noThread = true;

        assertThatThrownBy(() -> clock.schedule(() -> {}, 1, TimeUnit.HOURS))
                .isInstanceOf(OutOfMemoryError.class);
        assertThatThrownBy(() -> clock.schedule(() -> "result", 1, TimeUnit.HOURS))
                .isInstanceOf(OutOfMemoryError.class);

        assertThat(clock.getQueue()).isEmpty();
    }

    @Test
    void timersFire_onceAThreadCanBeStartedAgain() throws Exception {
        noThread = true;
        assertThatThrownBy(() -> clock.schedule(() -> {}, 1, TimeUnit.MILLISECONDS))
                .isInstanceOf(OutOfMemoryError.class);
        noThread = false;
        CountDownLatch fired = new CountDownLatch(1);

        Future<?> unused = clock.schedule(fired::countDown, 1, TimeUnit.MILLISECONDS);

        assertThat(fired.await(30, TimeUnit.SECONDS)).isTrue();
    }
}
