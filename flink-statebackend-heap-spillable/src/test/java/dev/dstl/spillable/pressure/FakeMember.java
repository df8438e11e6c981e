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

/** A member that records requests and executes them when the test says so. */
final class FakeMember implements SpillMember {

    long heap;
    long timers;
    long spilled;
    double heat = 1;
    long toSpill;
    long toLoad;
    boolean urgent;
    private final SpillConfig config;

    FakeMember(SpillConfig config) {
        this.config = config;
    }

    FakeMember(long heap, long spilled) {
        this(SpillConfig.defaults());
        this.heap = heap;
        this.spilled = spilled;
    }

    @Override
    public SpillConfig config() {
        return config;
    }

    @Override
    public long heapStateBytes() {
        return heap;
    }

    @Override
    public long timerBytes() {
        return timers;
    }

    @Override
    public long spilledStateBytes() {
        return spilled;
    }

    @Override
    public double heatPerByte() {
        return heat;
    }

    @Override
    public void requestSpill(long bytes, boolean isUrgent) {
        toSpill += bytes;
        urgent = isUrgent;
    }

    @Override
    public void requestLoad(long bytes) {
        toLoad += bytes;
    }

    /** Executes the requests. */
    void move() {
        heap += toLoad - toSpill;
        spilled += toSpill - toLoad;
        toSpill = 0;
        toLoad = 0;
    }
}
