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

package dev.dstl.benchmarks.source;

import java.io.Serializable;

/**
 * The rate of an input. A restarted source continues from its position. Used by the task thread.
 */
public interface Pace extends Serializable {

    /**
     * Returns how long the next event must wait.
     *
     * @param startFraction position in the input at which this attempt of the source started, in
     *     [0, 1]
     * @param elapsedNanos time since the start of the attempt
     * @param fraction position of the event, in [startFraction, 1]
     * @return nanoseconds; 0 or less if the event is due
     */
    long waitNanos(double startFraction, long elapsedNanos, double fraction);

    /** Returns whether the input is not rate-limited from here on. */
    boolean sprintsAt(double fraction);
}
