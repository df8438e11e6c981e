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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** Looks at what all processes of this machine do together, through {@code /proc}. */
public final class MachineProbe {

    private static final Path STATISTICS = Paths.get("/proc/stat");
    private static final String ALL_PROCESSORS = "cpu ";
    private static final long TICK_MILLIS = 10;

    /** Of the columns user, nice, system, idle, iowait, irq, softirq, steal: those that work. */
    private static final int[] BUSY = {0, 1, 2, 5, 6, 7};

    private MachineProbe() {}

    /** CPU time since the machine was started, of all processors; stolen time counts. */
    public static Duration busyTime() throws IOException {
        return busyTime(Files.readAllLines(STATISTICS));
    }

    static Duration busyTime(List<String> statistics) throws IOException {
        String line =
                statistics.stream()
                        .filter(one -> one.startsWith(ALL_PROCESSORS))
                        .findFirst()
                        .orElseThrow(() -> new IOException("No line 'cpu' in " + STATISTICS));
        long[] ticks =
                Arrays.stream(line.substring(ALL_PROCESSORS.length()).trim().split(" +"))
                        .mapToLong(Long::parseLong)
                        .toArray();
        return Duration.ofMillis(
                TICK_MILLIS * Arrays.stream(BUSY).mapToLong(column -> ticks[column]).sum());
    }
}
