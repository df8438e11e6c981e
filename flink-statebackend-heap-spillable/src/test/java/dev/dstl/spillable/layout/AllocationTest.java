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

package dev.dstl.spillable.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class AllocationTest {

    private static final int MANY = Allocation.MOST_AT_ONCE + 1;

    private final Allocation<Thread> allocation = new Allocation<>();

    @Test
    void fewElements_areAllocatedAtOnce() {
        assertThat(allocation.get(MANY - 1, Thread::currentThread))
                .isSameAs(Thread.currentThread());
    }

    @Test
    void manyElements_areAllocatedByAnotherThread_whichNobodyWaitsFor() {
        CountDownLatch mayEnd = new CountDownLatch(1);
        assertThat(allocation.get(MANY, () -> currentThreadAfter(mayEnd))).isNull();
        assertThat(allocation.get(MANY, () -> currentThreadAfter(mayEnd))).isNull();

        mayEnd.countDown();

        Thread thread = null;
        while (thread == null) {
            thread = allocation.get(MANY, () -> null);
        }
        assertThat(thread).isNotSameAs(Thread.currentThread());
    }

    private static Thread currentThreadAfter(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return Thread.currentThread();
    }

    @Test
    void heapThatIsTooSmall_failsTheTask() {
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                allocation.get(MANY, AllocationTest::fail);
                            }
                        })
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("Java heap space");
    }

    private static Thread fail() {
        throw new OutOfMemoryError("Java heap space");
    }
}
