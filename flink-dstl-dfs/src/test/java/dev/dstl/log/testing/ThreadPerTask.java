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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Does each piece of work on a thread of its own, and waits for it; not for one that hangs in a
 * read of the store. So a test is as deterministic as on one thread.
 */
public final class ThreadPerTask implements Executor {

    private static final long PATIENCE_MILLIS = 30_000;

    private final List<Thread> threads = new ArrayList<>();
    private FaultyStore store;
    private Error nextFailure;

    /** Sets the store in which tasks may hang; must be called before any is submitted. */
    public void mayHangIn(FaultyStore store) {
        this.store = store;
    }

    /** Makes the next start of a thread fail. */
    public void failNext(Error failure) {
        nextFailure = failure;
    }

    @Override
    public void execute(Runnable task) {
        if (nextFailure != null) {
            Error failure = nextFailure;
            nextFailure = null;
            throw failure;
        }
        Thread thread = new Thread(task, "task of a test");
        thread.setDaemon(true);
        int hanging = store.hangingReads();
        synchronized (threads) {
            threads.add(thread);
        }
        thread.start();
        store.awaitEndOrHang(thread, hanging);
    }

    /** Number of threads that have not ended. */
    public int alive() {
        synchronized (threads) {
            threads.removeIf(thread -> !thread.isAlive());
            return threads.size();
        }
    }

    /** Waits until all threads have ended. */
    public void awaitEnd() {
        await(() -> alive() == 0);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("A thread neither ends nor hangs in the store");
            }
            LockSupport.parkNanos(50_000);
        }
    }
}
