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
import java.util.List;
import java.util.stream.Stream;

/** Looks at a living process through {@code /proc}. For one thread; holds nothing open. */
public final class ProcessProbe {

    private static final String RESIDENT = "VmRSS:";
    private static final long KIBIBYTE = 1024;

    private final Path directory;
    private final long pid;

    private ProcessProbe(Path directory, long pid) {
        this.directory = directory;
        this.pid = pid;
    }

    /** A probe of a process of this machine. */
    public static ProcessProbe of(long pid) {
        return new ProcessProbe(Paths.get("/proc", Long.toString(pid)), pid);
    }

    /** Whether this machine has what a probe reads. */
    public static boolean isPossible() {
        return Files.isReadable(Paths.get("/proc/self/status"));
    }

    /**
     * CPU time of all its threads since it began, user and system.
     *
     * @throws IOException if the process is gone
     */
    public Duration processorTime() throws IOException {
        return ProcessHandle.of(pid)
                .flatMap(process -> process.info().totalCpuDuration())
                .orElseThrow(() -> new IOException("Process " + pid + " is gone"));
    }

    /** Memory it holds in RAM, mapped files included. */
    public long residentBytes() throws IOException {
        return residentBytes(Files.readAllLines(directory.resolve("status")));
    }

    static long residentBytes(List<String> status) throws IOException {
        return status.stream()
                .filter(line -> line.startsWith(RESIDENT))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * KIBIBYTE)
                .findFirst()
                .orElseThrow(() -> new IOException("No line " + RESIDENT + " in " + status));
    }

    /** Its open file descriptors. */
    public long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("fd"))) {
            return files.count();
        }
    }
}
