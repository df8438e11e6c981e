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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class AttemptSlotsTest {

    /** Attempts that got a thread; running one ends it. */
    private final Queue<Runnable> threads = new ArrayDeque<>();

    private final List<String> ended = new ArrayList<>();
    private final AttemptSlots slots = new AttemptSlots(threads::add, 2, 1);

    @Test
    void asManyRunAsThereArePlaces() {
        submit("a");
        submit("b");
        submit("c");
        assertThat(threads).hasSize(2);
        endOne();
        assertThat(threads).as("c got the place of a").hasSize(2);
        endOne();
        endOne();
        assertThat(ended).containsExactly("a", "b", "c");
    }

    @Test
    void slowAttempt_givesItsPlaceToTheNextOne() {
        AttemptSlots.Slot slow = submit("a");
        submit("b");
        submit("c");
        slow.becameSlow();
        assertThat(threads).hasSize(3);
        assertThat(slots.slowCount()).isEqualTo(1);
    }

    @Test
    void withoutPlaceForSlowOnes_aSlowAttemptKeepsItsPlaceUntilOneEnds() {
        AttemptSlots.Slot first = submit("a");
        AttemptSlots.Slot second = submit("b");
        submit("c");
        submit("d");
        first.becameSlow();
        second.becameSlow();
        assertThat(threads).as("a, b and c").hasSize(3);
        endOne();
        assertThat(ended).containsExactly("a");
        assertThat(threads).as("b moved to the slow place, d got its own").hasSize(3);
        assertThat(slots.slowCount()).isEqualTo(1);
    }

    @Test
    void attemptThatIsReleasedWhileItWaits_neverRuns() {
        submit("a");
        submit("b");
        AttemptSlots.Slot waiting = submit("c");
        assertThat(waiting.release()).isTrue();
        assertThat(waiting.release()).isFalse();
        endOne();
        endOne();
        assertThat(threads).isEmpty();
        assertThat(ended).containsExactly("a", "b");
    }

    @Test
    void attemptThatIsReleasedWhileItRuns_givesItsPlaceToTheNextOne_andNotAgainWhenItEnds() {
        AttemptSlots.Slot first = submit("a");
        submit("b");
        submit("c");
        submit("d");
        assertThat(first.release()).as("it had begun").isFalse();
        assertThat(threads).as("a, b and c").hasSize(3);
        endOne();
        assertThat(threads).as("d waits for b or c").hasSize(2);
    }

    @Test
    void attemptInASlowPlace_givesThatUp() {
        AttemptSlots.Slot slow = submit("a");
        slow.becameSlow();
        assertThat(slots.slowCount()).isEqualTo(1);
        slow.release();
        assertThat(slots.slowCount()).isZero();
    }

    @Test
    void attemptBeyondThePlaces_neitherWaitsNorTakesOne() {
        submit("a");
        submit("b");
        slots.submitBeyond(() -> ended.add("beyond"), failure -> {});
        assertThat(threads).hasSize(3);
        submit("c");
        endOne();
        assertThat(threads).as("b, beyond and c").hasSize(3);
    }

    @Test
    void afterClose_nothingBegins() {
        submit("a");
        submit("b");
        submit("c");
        slots.close();
        submit("d");
        endOne();
        endOne();
        assertThat(threads).isEmpty();
    }

    @Test
    void threadThatDoesNotStart_givesThePlaceBack_andTellsTheAttempt() {
        List<Throwable> failures = new ArrayList<>();
        AttemptSlots failing =
                new AttemptSlots(
                        task -> {
                            if (failures.size() < 2) {
                                throw new Error("unable to create native thread");
                            }
                            threads.add(task);
                        },
                        1,
                        0);
        for (String name : List.of("a", "b", "c", "d")) {
            failing.submit(() -> ended.add(name), failures::add);
        }
        assertThat(failures).hasSize(2).allMatch(Error.class::isInstance);
        assertThat(threads).as("c").hasSize(1);
        endOne();
        assertThat(threads).as("d").hasSize(1);
    }

    @Test
    void threadsThatAreShutDownWithTheStorage_failNothing() {
        List<Throwable> failures = new ArrayList<>();
        AttemptSlots[] shutDown = new AttemptSlots[1];
        shutDown[0] =
                new AttemptSlots(
                        task -> {
                            shutDown[0].close();
                            throw new RejectedExecutionException();
                        },
                        1,
                        0);
        shutDown[0].submit(() -> ended.add("a"), failures::add);
        assertThat(ended).isEmpty();
        assertThat(failures).isEmpty();
    }

    private AttemptSlots.Slot submit(String name) {
        return slots.submit(() -> ended.add(name), failure -> {});
    }

    private void endOne() {
        threads.remove().run();
    }
}
