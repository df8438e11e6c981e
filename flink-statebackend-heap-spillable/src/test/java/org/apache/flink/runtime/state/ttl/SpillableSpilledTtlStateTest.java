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

package org.apache.flink.runtime.state.ttl;

import dev.dstl.spillable.conformance.Placement;

/** Flink's contract of state with a time to live, with placement SPILLED. */
class SpillableSpilledTtlStateTest extends SpillableTtlStateTest {

    @Override
    protected Placement placement() {
        return Placement.SPILLED;
    }
}
