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

package dev.dstl.log.simulation.invariant;

import dev.dstl.log.simulation.cluster.SimulatedLog;

/**
 * State changes are uploaded when they reach the maximum age, whether or not the task continues to
 * write.
 */
public final class UploadedInTime extends Invariant {

    @Override
    public void uploadsLate(SimulatedLog log) {
        violated(
                "%s has something to upload %d ms after the last record, with a maximal age of %d",
                log.incarnation(), cluster().calmMillis(), log.settings().maxAgeMillis());
    }
}
