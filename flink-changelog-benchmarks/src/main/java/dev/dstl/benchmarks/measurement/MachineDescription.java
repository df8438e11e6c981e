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

package dev.dstl.benchmarks.measurement;

import oshi.SystemInfo;
import oshi.hardware.HardwareAbstractionLayer;

/** The machine a benchmark ran on. Written as JSON. */
public final class MachineDescription {

    /** Model name of the CPU. */
    public String processor = "";

    /** Number of CPUs the JVM may use. */
    public int processors;

    /** Physical memory in bytes. */
    public long memoryBytes;

    /** Name and version of the operating system. */
    public String operatingSystem = "";

    /** Name and version of the JVM. */
    public String java = "";

    /** Describes this machine. */
    public static MachineDescription ofThisMachine() {
        HardwareAbstractionLayer hardware = new SystemInfo().getHardware();
        MachineDescription machine = new MachineDescription();
        machine.processor = hardware.getProcessor().getProcessorIdentifier().getName();
        machine.processors = Runtime.getRuntime().availableProcessors();
        machine.memoryBytes = hardware.getMemory().getTotal();
        machine.operatingSystem =
                System.getProperty("os.name") + " " + System.getProperty("os.version");
        machine.java =
                System.getProperty("java.vm.name") + " " + System.getProperty("java.version");
        return machine;
    }
}
