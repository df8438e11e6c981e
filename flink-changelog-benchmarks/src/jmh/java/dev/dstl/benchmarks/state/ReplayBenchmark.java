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

package dev.dstl.benchmarks.state;

import dev.dstl.benchmarks.harness.Changelog;
import dev.dstl.benchmarks.simulated.SimulatedStores;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.StoreTime;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateHandle;
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
 * Restores a task whose state is in the changelog only: a counter for each of 500,000 keys, written
 * once, so that no record is obsolete, in ten checkpoints. The store is instant.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ReplayBenchmark {

    private static final int RECORDS = 500_000;
    private static final int CHECKPOINTS = 10;
    private static final String STORE = "replay";

    /** The changelog, which must be on the class path. */
    @Param({"BUILT_IN", "DSTL"})
    public Changelog changelog;

    @Param public Delegate delegate;

    private KeyedStateHandle checkpoint;
    private KeyedTask restored;

    /** Writes the changelog. */
    @Setup(Level.Trial)
    public void write() throws Exception {
        SimulatedStores.register(
                STORE, SimulatedStores.inMemory(StoreProfile.instant(), StoreTime.SYSTEM));
        try (KeyedTask task = open(List.of())) {
            ValueState<Long> state = counter(task);
            for (long key = 0; key < RECORDS; key++) {
                task.backend().setCurrentKey(key);
                state.update(key);
                if ((key + 1) % (RECORDS / CHECKPOINTS) == 0) {
                    checkpoint = task.checkpoint();
                }
            }
        }
    }

    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public void replay() throws Exception {
        restored = open(List.of(checkpoint));
    }

    /** Checks that the last record was replayed, and closes the task. */
    @TearDown(Level.Invocation)
    public void close() throws Exception {
        ValueState<Long> state = counter(restored);
        restored.backend().setCurrentKey(RECORDS - 1L);
        Long last = state.value();
        restored.close();
        if (last == null || last != RECORDS - 1) {
            throw new IllegalStateException("The last record was restored as " + last);
        }
    }

    @TearDown(Level.Trial)
    public void forget() {
        SimulatedStores.unregister(STORE);
    }

    private KeyedTask open(List<KeyedStateHandle> handles) throws Exception {
        return new KeyedTask(changelog, delegate, "sim://" + STORE, handles);
    }

    private static ValueState<Long> counter(KeyedTask task) throws Exception {
        return task.state(new ValueStateDescriptor<>("counter", LongSerializer.INSTANCE));
    }
}
