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

package dev.dstl.log.commit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.testing.FaultyTimers;
import dev.dstl.log.testing.ManualTimers;
import dev.dstl.log.upload.InFlightBudget;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AgedLogsTest {

    private final ManualTimers timers = new ManualTimers();
    private final InFlightBudget budget = new InFlightBudget(100);

    @Test
    void whicheverTimerCannotBeScheduled_changelogsAreAskedOn() {
        for (int missing = 2; missing < 6; missing++) {
            FaultyTimers faulty = new FaultyTimers(timers);
            faulty.failCall(missing);
            AtomicInteger asked = new AtomicInteger();
            AgedLogs logs = new AgedLogs(faulty, 1_000, budget, asked::incrementAndGet);
            timers.advanceMillis(10_000);
            assertThat(asked).as("timer %s", missing).hasValue(10);
            logs.close();
        }
    }

    @Test
    void whileMemoryIsShort_changelogsAreAskedAgain_alsoAfterAFailure() {
        AtomicInteger asked = new AtomicInteger();
        AgedLogs logs =
                new AgedLogs(
                        timers,
                        0,
                        budget,
                        () -> {
                            if (asked.incrementAndGet() == 1) {
                                throw new OutOfMemoryError("Java heap space");
                            }
                        });
        budget.reserve(200);
        assertThat(budget.getAvailableFuture()).isNotDone();
        assertThatThrownBy(() -> timers.advanceMillis(1)).hasMessage("Java heap space");
        timers.advanceMillis(1_001);
        assertThat(asked).hasValue(2);

        budget.release(200);
        timers.advanceMillis(5_000);
        assertThat(asked).hasValue(2);
        logs.close();
    }

    @Test
    void jobThatIsStoppedAgainAndAgain_hasTasksAskedOnceAnInterval() {
        ProcessMemory process = new ProcessMemory();
        JobMemory stopped = process.join(100);
        JobMemory idle = process.join(100);
        JobMemory full = process.join(100);
        AtomicInteger askedStopped = new AtomicInteger();
        AtomicInteger askedIdle = new AtomicInteger();
        AtomicInteger askedFull = new AtomicInteger();
        List<AgedLogs> logs =
                List.of(
                        agedLogs(stopped, askedStopped),
                        agedLogs(idle, askedIdle),
                        agedLogs(full, askedFull));
        full.reserve(MemoryUse.ACTIVE, 20);
        for (int stop = 0; stop < 20; stop++) {
            stopped.reserve(MemoryUse.IN_FLIGHT, 80);
            assertThat(stopped.isAvailable()).isFalse();
            timers.advanceMillis(25);
            stopped.release(MemoryUse.IN_FLIGHT, 80);
            assertThat(stopped.isAvailable()).isTrue();
        }
        assertThat(askedStopped).hasValue(1);
        assertThat(askedIdle).hasValue(0);
        assertThat(askedFull).hasValue(1);

        timers.advanceMillis(10_000);
        assertThat(askedStopped).as("for the stops in the interval").hasValue(2);
        assertThat(askedFull).hasValue(2);
        logs.forEach(AgedLogs::close);
    }

    private AgedLogs agedLogs(JobMemory memory, AtomicInteger asked) {
        return new AgedLogs(timers, 0, new InFlightBudget(memory), asked::incrementAndGet);
    }
}
