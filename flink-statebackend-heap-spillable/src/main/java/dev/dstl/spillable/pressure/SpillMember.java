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

package dev.dstl.spillable.pressure;

import dev.dstl.spillable.config.SpillConfig;

/** A backend as the arbiter sees it. Called on the thread that reports garbage collections. */
public interface SpillMember {

    /** The ratios and the trigger interval that hold for it. */
    SpillConfig config();

    /** Estimated bytes of its state on the heap. */
    long heapStateBytes();

    /** Estimated bytes of its timers, which are on the heap and cannot be spilled. */
    long timerBytes();

    /** Estimated bytes that its spilled state would take on the heap. */
    long spilledStateBytes();

    /** Recent accesses to its state on the heap per byte. */
    double heatPerByte();

    /** Asks to take about that many bytes off-heap; replaces what was asked before. */
    void requestSpill(long bytes, boolean urgent);

    /** Asks to take about that many bytes back onto the heap; replaces what was asked before. */
    void requestLoad(long bytes);
}
