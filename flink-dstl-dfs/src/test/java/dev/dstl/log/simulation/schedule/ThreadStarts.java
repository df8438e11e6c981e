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

package dev.dstl.log.simulation.schedule;

/** Whether and when the operating system starts the threads of a process. */
public interface ThreadStarts {

    /** Every thread starts, at once. */
    ThreadStarts PROMPT = () -> 0;

    /**
     * A pool asks for a thread.
     *
     * @return after how many milliseconds it runs
     * @throws OutOfMemoryError if there is none, as from {@link Thread#start}
     */
    long delayMillis();
}
