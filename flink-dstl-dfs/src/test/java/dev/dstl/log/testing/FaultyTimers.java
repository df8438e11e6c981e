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

import dev.dstl.log.execution.Timers;

/**
 * Timers of which a single call of {@link #schedule} fails. An action that fails harms no other, as
 * on the thread of production.
 */
public final class FaultyTimers implements Timers {

    private final Timers timers;
    private int calls;
    private int failing;

    /** Creates timers that do not fail yet. */
    public FaultyTimers(Timers timers) {
        this.timers = timers;
    }

    /** The call with this number, counted from 1 since the beginning, fails. */
    public void failCall(int number) {
        failing = number;
    }

    /** Number of calls. */
    public int calls() {
        return calls;
    }

    @Override
    public long nanoTime() {
        return timers.nanoTime();
    }

    @Override
    public Timer schedule(Runnable action, long delayMillis) {
        count();
        return timers.schedule(() -> run(action), delayMillis);
    }

    @Override
    public void every(long periodMillis, Runnable action) {
        count();
        timers.every(periodMillis, () -> run(action));
    }

    private void count() {
        calls++;
        if (calls == failing) {
            throw new NoMemoryError();
        }
    }

    private static void run(Runnable action) {
        try {
            action.run();
        } catch (NoMemoryError reported) {
            return;
        }
    }

    /** Not what the JVM throws, which would end the process of the tests if it was not caught. */
    public static final class NoMemoryError extends Error {

        private static final long serialVersionUID = 1L;

        private NoMemoryError() {
            super("Java heap space");
        }
    }
}
