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

package dev.dstl.log.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedLinkTest {

    private final ManualTimers timers = new ManualTimers();
    private final SharedLink link = new SharedLink(timers, 1_000_000);
    private final List<String> ended = new ArrayList<>();

    @Test
    void transfers_shareTheLinkEqually_andLeaveTheirPartToTheOthers() {
        send("long", 300_000);
        send("short", 100_000);
        timers.advanceMillis(1_000);
        assertThat(ended).containsExactly("short at 200", "long at 400");
        assertThat(link.sentBytes()).isEqualTo(400_000);
        assertThat(link.requests()).isEqualTo(2);
    }

    @Test
    void laterTransfer_slowsTheOthersDown() {
        send("first", 100_000);
        timers.advanceMillis(50);
        send("second", 100_000);
        timers.advanceMillis(1_000);
        assertThat(ended).containsExactly("first at 150", "second at 200");
    }

    @Test
    void inAStall_nothingIsSent() {
        link.stall(50, 2_050);
        link.stall(3_000, 4_000);
        send("a", 100_000);
        timers.advanceMillis(1_000);
        assertThat(link.sentBytes()).isEqualTo(50_000);
        timers.advanceMillis(1_950);
        send("b", 100_000);
        timers.advanceMillis(9_000);
        assertThat(ended).containsExactly("a at 2100", "b at 4050");
    }

    @Test
    void cancelledTransfer_takesNoBandwidth_andIsNotAnswered() {
        SharedLink.Transfer cancelled = send("cancelled", 100_000);
        send("other", 100_000);
        timers.advanceMillis(100);
        cancelled.cancel();
        timers.advanceMillis(1_000);
        assertThat(ended).containsExactly("other at 150");
        assertThat(link.sentBytes()).isEqualTo(150_000);
        assertThat(link.activeCount()).isZero();
        assertThat(link.maxActive()).isEqualTo(2);
    }

    @Test
    void answer_comesSomeTimeAfterTheLastByte_andDoesNotHoldTheLink() {
        link.answerAfter(() -> 1_000);
        send("a", 100_000);
        timers.advanceMillis(100);
        send("b", 100_000);
        timers.advanceMillis(2_000);
        assertThat(ended).containsExactly("a at 1100", "b at 1200");
    }

    @Test
    void threadsTakeTurns_andTheirPausesEndWithTheClockOrAnInterrupt() {
        List<Thread> threads = new ArrayList<>();
        try (TurnThreads turns = new TurnThreads(timers)) {
            for (String name : List.of("a", "b", "c")) {
                turns.execute(
                        () -> {
                            threads.add(Thread.currentThread());
                            TurnThreads.Pause pause = new TurnThreads.Pause(name.equals("c"));
                            link.send(100_000, pause::end);
                            try {
                                pause.await();
                                ended.add(name + " at " + link.nowMillis());
                            } catch (InterruptedException e) {
                                ended.add(name + " interrupted at " + link.nowMillis());
                            }
                        });
            }
            timers.advanceMillis(200);
            assertThat(turns.runningCount()).isEqualTo(3);
            threads.get(1).interrupt();
            threads.get(2).interrupt();
            timers.advanceMillis(1_000);
            assertThat(turns.runningCount()).isZero();
        }
        assertThat(ended).containsExactly("b interrupted at 200", "a at 300", "c at 300");
    }

    private SharedLink.Transfer send(String name, long bytes) {
        return link.send(bytes, () -> ended.add(name + " at " + link.nowMillis()));
    }
}
