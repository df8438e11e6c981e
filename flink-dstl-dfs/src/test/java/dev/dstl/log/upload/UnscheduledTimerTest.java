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

package dev.dstl.log.upload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.testing.LinkedStore.Fate;
import dev.dstl.log.upload.LinkedTaskManagers.Checkpoint;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Uploads of which one timer, whichever it is, cannot be scheduled for lack of memory. */
class UnscheduledTimerTest {

    private static final int FAST = 1_000_000_000;
    private static final int SMALL = 20_000;
    private static final int WARM_UP_SECONDS = 10;

    private enum Trouble {
        NONE(Fate.SENT, Fate.SENT),
        FIRST_ATTEMPTS_HANG(Fate.HANGS, Fate.SENT),
        FIRST_ATTEMPTS_ARE_LATE(Fate.LATE_DEAF, Fate.SENT),
        FIRST_ATTEMPTS_FAIL_LATE(Fate.LATE_FAILS, Fate.SENT),
        FAILURES(Fate.FAILS, Fate.FAILS),
        SILENCE(Fate.HANGS, Fate.HANGS);

        private final Fate first;
        private final Fate others;

        Trouble(Fate first, Fate others) {
            this.first = first;
            this.others = others;
        }
    }

    @ParameterizedTest
    @EnumSource(Trouble.class)
    void whicheverTimerItIs_everySegmentBecomesDurable_withoutAnotherOne(Trouble trouble) {
        int timers = upload(trouble, 0, 0);
        for (int missing = 1; missing <= timers; missing++) {
            upload(trouble, WARM_UP_SECONDS, missing);
            upload(trouble, 0, missing);
        }
    }

    /** Returns the number of timers. */
    private static int upload(Trouble trouble, int warmUpSeconds, int missing) {
        try (LinkedTaskManagers cluster = new LinkedTaskManagers(1, FAST)) {
            cluster.link.answerAfter(() -> 30);
            cluster.store.completeLateAfter(cluster.timers, 5_000);
            cluster.checkpointEverySecond(warmUpSeconds, SMALL);
            cluster.uploadTimers.failCall(cluster.uploadTimers.calls() + missing);
            cluster.store.decide(name -> name.attempt() == 1 ? trouble.first : trouble.others);
            List<SegmentUpload> uploads = new ArrayList<>();
            Checkpoint troubled = cluster.checkpoint(SMALL, uploads);
            cluster.timers.advanceMillis(3_000);
            Checkpoint other = cluster.checkpoint(SMALL, uploads);
            cluster.timers.advanceMillis(3_000);
            cluster.store.decide(name -> Fate.SENT);
            cluster.timers.advanceMillis(60_000);
            if (trouble == Trouble.FAILURES) {
                // A retry that cannot be scheduled is made for the next checkpoint.
                uploads.forEach(SegmentUpload::ensureRunning);
                cluster.timers.advanceMillis(10_000);
            }

            String which = trouble + ", timer " + missing + " after " + warmUpSeconds + " s";
            assertThat(troubled.isComplete()).as(which).isTrue();
            assertThat(other.isComplete()).as(which).isTrue();
            assertThat(cluster.store.hangingCount()).as(which).isZero();
            assertThat(cluster.uploaders.get(0).slots.slowCount()).as(which).isZero();
            assertThat(cluster.metrics.get(0).value("abandonedUploadAttempts"))
                    .as(which)
                    .isEqualTo(0);
            assertThat(cluster.store.files()).as(which).hasSize((int) cluster.durableSegments());
            int timers = cluster.uploadTimers.calls();
            Checkpoint later = cluster.checkpoint(SMALL);
            cluster.timers.advanceMillis(1_000);
            assertThat(later.isComplete()).as(which).isTrue();
            return timers;
        }
    }
}
