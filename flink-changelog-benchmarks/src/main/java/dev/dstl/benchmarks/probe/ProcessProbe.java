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
import java.time.Duration;
import oshi.SystemInfo;
import oshi.software.os.OSProcess;
import oshi.software.os.OperatingSystem;

/** Measures a running process from outside. Used by one thread; needs no closing. */
public final class ProcessProbe {

    private final OperatingSystem system = new SystemInfo().getOperatingSystem();
    private final int pid;

    private ProcessProbe(int pid) {
        this.pid = pid;
    }

    /** Returns a probe of a local process. */
    public static ProcessProbe of(long pid) {
        return new ProcessProbe(Math.toIntExact(pid));
    }

    /**
     * Returns the CPU time of the process, user and system.
     *
     * @throws IOException if the process has ended
     */
    public Duration cpuTime() throws IOException {
        OSProcess process = process();
        return Duration.ofMillis(process.getUserTime() + process.getKernelTime());
    }

    /**
     * Returns the resident memory in bytes, including mapped files.
     *
     * @throws IOException if the process has ended
     */
    public long residentBytes() throws IOException {
        return process().getResidentSetSize();
    }

    /**
     * Returns the number of open file descriptors.
     *
     * @throws IOException if the process has ended
     */
    public long openFiles() throws IOException {
        return process().getOpenFiles();
    }

    private OSProcess process() throws IOException {
        OSProcess process = system.getProcess(pid);
        if (process == null) {
            throw new IOException("Process " + pid + " has ended");
        }
        return process;
    }
}
