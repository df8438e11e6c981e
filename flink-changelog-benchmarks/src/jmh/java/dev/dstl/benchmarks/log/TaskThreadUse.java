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

package dev.dstl.benchmarks.log;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Allocations of the task thread alone, since JMH's profiler also counts upload threads. Read
 * before and after the measured calls.
 */
@State(Scope.Thread)
@AuxCounters(AuxCounters.Type.EVENTS)
public class TaskThreadUse {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Bytes allocated between start and stop in one iteration. */
    public long taskThreadBytes;

    /** Nanoseconds of CPU between start and stop in one iteration. */
    public long taskThreadCpuNanos;

    /** Records appended in one iteration. */
    public long records;

    private long startBytes;
    private long startCpuNanos;

    @Setup(Level.Iteration)
    public void reset() {
        taskThreadBytes = 0;
        taskThreadCpuNanos = 0;
        records = 0;
    }

    public void start() {
        startBytes = allocated();
        startCpuNanos = THREADS.getCurrentThreadCpuTime();
    }

    public void stop(int appended) {
        taskThreadCpuNanos += THREADS.getCurrentThreadCpuTime() - startCpuNanos;
        taskThreadBytes += allocated() - startBytes;
        records += appended;
    }

    private static long allocated() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }
}
