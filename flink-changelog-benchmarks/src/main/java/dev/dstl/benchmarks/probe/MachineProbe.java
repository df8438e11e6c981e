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

package dev.dstl.benchmarks.probe;

import java.time.Duration;
import java.util.Set;
import oshi.SystemInfo;
import oshi.hardware.CentralProcessor;
import oshi.hardware.CentralProcessor.TickType;

/** Measures the CPU time of this machine. Used by one thread. */
public final class MachineProbe {

    private static final Set<TickType> IDLE = Set.of(TickType.IDLE, TickType.IOWAIT);

    private final CentralProcessor processors = new SystemInfo().getHardware().getProcessor();

    /**
     * Returns the CPU time of all processors since the machine was started, including stolen time.
     */
    public Duration busyTime() {
        long[] millis = processors.getSystemCpuLoadTicks();
        long busy = 0;
        for (TickType type : TickType.values()) {
            busy += IDLE.contains(type) ? 0 : millis[type.getIndex()];
        }
        return Duration.ofMillis(busy);
    }
}
