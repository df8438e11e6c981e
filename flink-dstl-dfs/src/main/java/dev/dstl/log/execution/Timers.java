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

/** Runs actions later. Thread safe. */
public interface Timers {

    /** Nanoseconds since an arbitrary moment, for differences only. */
    long nanoTime();

    /**
     * Runs an action once. It may not block: other actions wait for it.
     *
     * @param delayMillis not negative
     * @return to call it off
     */
    Timer schedule(Runnable action, long delayMillis);

    /** An action that will run. */
    interface Timer {

        /** Calls the action off, unless it already runs or did. */
        void cancel();
    }
}
