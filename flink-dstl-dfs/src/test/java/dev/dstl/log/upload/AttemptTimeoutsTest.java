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

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;

class AttemptTimeoutsTest {

    private static final int SMALL = 10_000;
    private static final int LARGE = 1_000_000;

    private final Configuration configuration =
            new Configuration().set(DstlOptions.BASE_PATH, "file:/tmp/log");
    private final AttemptTimeouts timeouts =
            new AttemptTimeouts(new RetryPolicy(DstlSettings.from(configuration)));

    @Test
    void asLongAsNothingIsKnown_theConfiguredTimeoutHolds() {
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(1_000);
        assertThat(timeouts.timeoutMillis(32 << 20)).isEqualTo(4_000);
    }

    @Test
    void fromTheFirstSuccessOn_itIsThreeTimesWhatTheStoreNeeds() {
        took(SMALL, 900);
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(2_700);
        took(SMALL, 1_200);
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(3_600);
    }

    @Test
    void fastStore_getsNoLessThanTheConfiguredTimeout() {
        took(SMALL, 20);
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(1_000);
    }

    @Test
    void sizesNotSeenYet_areExpectedAtTheThroughputOfOthers() {
        took(LARGE, 800);
        assertThat(timeouts.timeoutMillis(10 * LARGE)).isEqualTo(24_000);
        assertThat(timeouts.timeoutMillis(SMALL)).as("never less").isEqualTo(2_400);
    }

    @Test
    void smallSegments_takeAsLongAsEachOther_whateverTheirSizes() {
        took(200, 1_000);
        assertThat(timeouts.timeoutMillis(8_000)).isEqualTo(3_000);
        assertThat(timeouts.timeoutMillis(32 << 10)).as("twice the smallest").isEqualTo(6_000);
    }

    @Test
    void oneThatHungForAnHour_makesTheOthersOnlyALittleMorePatient() {
        took(SMALL, 3_600_000);
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(3_000);
    }

    /** Each counts as if it had barely not timed out; these must not accumulate. */
    @Test
    void someThatHungForMinutes_makeTheOthersOnlyALittleMorePatient() {
        for (int i = 0; i < 9; i++) {
            took(SMALL, 400);
        }
        for (int i = 0; i < 7; i++) {
            took(SMALL, 100_000);
        }
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(12_000);
    }

    @Test
    void oneInTenThatIsTenTimesAsSlow_isNotTimedOut() {
        for (int i = 0; i < 16; i++) {
            took(SMALL, i % 10 == 0 ? 900 : 90);
        }
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(2_700);
    }

    @Test
    void storeThatBecomesSlow_isNotTimedOutForLong() {
        for (int i = 0; i < 16; i++) {
            took(SMALL, 100);
        }
        for (int i = 0; i < 9; i++) {
            took(SMALL, 8_000);
        }
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(24_000);
    }

    @Test
    void badMinute_isForgotten() {
        took(SMALL, 1_000);
        took(SMALL, 3_000);
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(9_000);
        for (int i = 0; i < 16; i++) {
            took(SMALL, 20);
        }
        assertThat(timeouts.timeoutMillis(SMALL)).isEqualTo(1_000);
    }

    @Test
    void switchedOff_itStaysOff() {
        configuration.set(DstlOptions.UPLOAD_TIMEOUT, Duration.ZERO);
        AttemptTimeouts off =
                new AttemptTimeouts(new RetryPolicy(DstlSettings.from(configuration)));
        off.succeeded(SMALL, 1_000_000_000);
        assertThat(off.timeoutMillis(SMALL)).isZero();
    }

    private void took(long bytes, long millis) {
        timeouts.succeeded(bytes, TimeUnit.MILLISECONDS.toNanos(millis));
    }
}
