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

/** How fast an input comes. A restarted source goes on from where it is. Task thread only. */
public interface Pace extends Serializable {

    /**
     * How long the next event has to wait.
     *
     * @param startFraction where in the input this attempt of the source began, in [0, 1]
     * @param elapsedNanos since then
     * @param fraction where the event is, in [startFraction, 1]
     * @return nanoseconds; 0 or less if it may come now
     */
    long waitNanos(double startFraction, long elapsedNanos, double fraction);

    /** Whether the input comes as fast as the job takes it from here on. */
    boolean sprintsAt(double fraction);
}
