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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;

/** The machine a benchmark ran on. Written as JSON. */
public final class MachineDescription {

    private static final Path PROCESSORS = Paths.get("/proc/cpuinfo");
    private static final Path MEMORY = Paths.get("/proc/meminfo");
    private static final long KIBIBYTE = 1024;

    /** Model name of the CPU. */
    public String processor = "";

    /** Number of CPUs the JVM may use. */
    public int processors;

    /** Physical memory. */
    public long memoryBytes;

    /** Name and version. */
    public String operatingSystem = "";

    /** Name and version of the JVM. */
    public String java = "";

    /**
     * This machine.
     *
     * @throws IOException if it has no {@code /proc}
     */
    public static MachineDescription ofThisMachine() throws IOException {
        MachineDescription machine = new MachineDescription();
        machine.processor = value(PROCESSORS, "model name");
        machine.processors = Runtime.getRuntime().availableProcessors();
        String kibibytes = value(MEMORY, "MemTotal").replaceAll("[^0-9]", "");
        machine.memoryBytes = kibibytes.isEmpty() ? 0 : Long.parseLong(kibibytes) * KIBIBYTE;
        machine.operatingSystem =
                System.getProperty("os.name") + " " + System.getProperty("os.version");
        machine.java =
                System.getProperty("java.vm.name") + " " + System.getProperty("java.version");
        return machine;
    }

    private static String value(Path file, String key) throws IOException {
        List<String> lines = Files.readAllLines(file);
        return lines.stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(line.indexOf(':') + 1).trim())
                .findFirst()
                .orElse("unknown");
    }
}
