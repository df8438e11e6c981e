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

package dev.dstl.log.execution;

/** Runs actions after a delay. Thread-safe. */
public interface Timers {

    /** Returns nanoseconds since an arbitrary moment, for differences only. */
    long nanoTime();

    /**
     * Runs an action once, after a delay. The action must not block, since others wait for it.
     *
     * @param delayMillis not negative
     * @return a timer that can cancel the action
     */
    Timer schedule(Runnable action, long delayMillis);

    /**
     * Runs an action again and again, each time after a period, whatever it throws. Takes memory
     * only when it is called, so that the action does not end for lack of memory.
     *
     * @param periodMillis positive
     */
    void every(long periodMillis, Runnable action);

    /** A scheduled action. */
    interface Timer {

        /** Cancels the action. No effect if it is running or has run. */
        void cancel();
    }
}
