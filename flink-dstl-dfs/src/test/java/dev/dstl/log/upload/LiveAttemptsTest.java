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

import java.util.List;
import org.junit.jupiter.api.Test;

class LiveAttemptsTest {

    private final LiveAttempts<String> live = new LiveAttempts<>();

    @Test
    void attempt_isOvertakenByThreeTimesItsBytes_oneAfterTheOther() {
        live.began("hanging", 1_000, 0, 0);
        assertThat(write("a", 1_000, 10, 20)).isEmpty();
        assertThat(write("b", 1_000, 20, 30)).isEmpty();
        assertThat(write("c", 1_000, 30, 40)).containsExactly("hanging");
    }

    @Test
    void attemptsThatRunBesideEachOther_countOnce() {
        live.began("slow", 1_000, 0, 0);
        live.began("a", 1_000, 10, 0);
        live.began("b", 1_000, 10, 0);
        live.began("c", 1_000, 10, 0);
        assertThat(live.succeeded("a", 20)).isEmpty();
        assertThat(live.succeeded("b", 20)).isEmpty();
        assertThat(live.succeeded("c", 20)).isEmpty();
        assertThat(write("d", 1_000, 15, 30)).as("began before a ended").isEmpty();
        assertThat(write("e", 1_000, 20, 30)).as("the second").isEmpty();
        assertThat(write("f", 1_000, 30, 40)).containsExactly("slow");
    }

    @Test
    void olderAttempts_overtakeNothing() {
        live.began("old", 9_000, 0, 0);
        live.began("younger", 1_000, 10, 0);
        assertThat(live.succeeded("old", 20)).isEmpty();
    }

    @Test
    void youngAttempt_isNotCalledOvertaken() {
        live.began("young", 1_000, 0, 100);
        assertThat(write("a", 9_000, 10, 20)).isEmpty();
        assertThat(write("b", 1, 99, 100)).containsExactly("young");
    }

    @Test
    void smallestThatIsTimedOut_isToBeProbed_unlessOneOfComparableSizeIsOnItsWay() {
        live.began("large", 9_000, 0, 0);
        live.began("small", 1_000, 0, 0);
        assertThat(live.neitherServedNorOvertaken()).isNull();
        live.timedOut("large");
        assertThat(live.neitherServedNorOvertaken()).as("small is no match").isEqualTo("large");
        live.timedOut("small");
        assertThat(live.neitherServedNorOvertaken()).isEqualTo("small");
        live.began("new", 500, 10, 0);
        assertThat(live.neitherServedNorOvertaken()).isEqualTo("large");
        live.began("newer", 4_500, 10, 0);
        assertThat(live.neitherServedNorOvertaken()).isNull();
        live.ended("newer");
        live.ended("new");
        assertThat(live.neitherServedNorOvertaken()).isEqualTo("small");
    }

    @Test
    void store_isSlowIfMostOthersAre() {
        live.began("asking", 1_000, 0, 0);
        assertThat(live.areOthersSlow("asking")).as("there are none").isFalse();
        live.began("a", 1_000, 0, 0);
        live.began("b", 1_000, 0, 0);
        live.becameSlow("a");
        assertThat(live.areOthersSlow("asking")).isFalse();
        live.timedOut("b");
        assertThat(live.areOthersSlow("asking")).isTrue();
    }

    private List<String> write(String attempt, long bytes, long fromNanos, long toNanos) {
        live.began(attempt, bytes, fromNanos, fromNanos);
        return live.succeeded(attempt, toNanos);
    }
}
