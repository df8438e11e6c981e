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

package dev.dstl.benchmarks.simulated.store;

import java.util.concurrent.TimeUnit;

/**
 * Time that stands still until a test moves it: a sleeping thread stays blocked until {@link
 * #advance} has passed its end. For tests in which requests overlap.
 */
public final class ManualTime implements StoreTime {

    private final Object lock = new Object();
    private long nanos;
    private int sleepers;

    @Override
    public long nanoTime() {
        synchronized (lock) {
            return nanos;
        }
    }

    @Override
    public void sleep(long duration) throws InterruptedException {
        synchronized (lock) {
            long end = nanos + duration;
            sleepers++;
            lock.notifyAll();
            try {
                while (nanos - end < 0) {
                    lock.wait();
                }
            } finally {
                sleepers--;
            }
        }
    }

    /** Advances the clock and wakes the threads whose sleep has ended. */
    public void advance(long duration, TimeUnit unit) {
        synchronized (lock) {
            nanos += unit.toNanos(duration);
            lock.notifyAll();
        }
    }

    /** Waits, in real time, until at least {@code count} threads are sleeping. */
    public void awaitSleepers(int count) throws InterruptedException {
        synchronized (lock) {
            while (sleepers < count) {
                lock.wait();
            }
        }
    }
}
