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

import dev.dstl.benchmarks.simulated.store.StoreProfile;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * CPU time of the task thread to create and append one record; creating it takes some nanoseconds.
 * After every megabyte a checkpoint persists, confirms and truncates outside the measured time, so
 * that the changelog is in its steady state.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AppendBenchmark {

    private static final int RECORDS = 10_000;

    /** The changelog that is measured. */
    @Param public MeasuredLog log;

    private LogStorage storage;
    private MeasuredTask task;

    @Setup(Level.Trial)
    public void open() throws Exception {
        storage = new LogStorage(log, StoreProfile.instant());
        task = storage.openTask(new TaskMailbox(), 1);
    }

    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public void append(TaskThreadUse use) throws IOException {
        use.start();
        task.append(RECORDS);
        use.stop(RECORDS);
    }

    @TearDown(Level.Invocation)
    public void checkpoint() throws Exception {
        task.complete(task.persist());
    }

    @TearDown(Level.Trial)
    public void close() throws Exception {
        task.close();
        storage.close();
    }
}
