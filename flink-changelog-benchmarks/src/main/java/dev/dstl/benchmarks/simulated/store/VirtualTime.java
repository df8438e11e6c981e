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

import java.util.concurrent.atomic.AtomicLong;

/**
 * Time in which a sleep advances the clock and returns at once. For tests with one thread; with
 * several, their sleeps add up.
 */
public final class VirtualTime implements StoreTime {

    private final AtomicLong nanos = new AtomicLong();

    @Override
    public long nanoTime() {
        return nanos.get();
    }

    @Override
    public void sleep(long duration) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        nanos.addAndGet(Math.max(0, duration));
    }
}
