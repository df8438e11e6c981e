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
import dev.dstl.benchmarks.log.TaskThreadUse;
import dev.dstl.benchmarks.simulated.SimulatedStores;
import dev.dstl.benchmarks.simulated.content.LengthOnlyContent;
import dev.dstl.benchmarks.simulated.store.LocalOutageSwitch;
import dev.dstl.benchmarks.simulated.store.RequestCounters;
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.StoreTime;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
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
 * One access to keyed state by the task thread, including the key switch, over 100,000 keys in
 * scattered order. With a changelog, a checkpoint follows every 50,000 accesses outside the
 * measured time; its store is instant and keeps no bytes.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StateAccessBenchmark {

    private static final int KEYS = 100_000;

    /** No divisor in common with {@link #KEYS}. */
    private static final int STRIDE = 61_813;

    private static final int ACCESSES = 50_000;
    private static final String STORE = "access";

    /** The changelog, which must be on the class path. */
    @Param public Changelog changelog;

    @Param public Delegate delegate;

    @Param public AccessedState state;

    private final Long[] keys = new Long[KEYS];
    private KeyedTask task;
    private AccessedState.Access access;
    private long accesses;

    /** Opens the task and accesses every key once. */
    @Setup(Level.Trial)
    public void open() throws Exception {
        for (int i = 0; i < KEYS; i++) {
            keys[i] = (long) i * STRIDE % KEYS;
        }
        SimulatedStores.register(
                STORE,
                new SimulatedObjectStore(
                        new LengthOnlyContent(),
                        StoreProfile.instant(),
                        StoreTime.SYSTEM,
                        new LocalOutageSwitch(),
                        RequestCounters.inMemory()));
        task = new KeyedTask(changelog, delegate, "sim://" + STORE, List.of());
        access = state.open(task);
        for (int done = 0; done < KEYS; done += ACCESSES) {
            accessMany();
        }
    }

    @Benchmark
    @OperationsPerInvocation(ACCESSES)
    public void access(TaskThreadUse use) throws Exception {
        use.start();
        accessMany();
        use.stop(ACCESSES);
    }

    private void accessMany() throws Exception {
        CheckpointableKeyedStateBackend<Long> backend = task.backend();
        long pass = accesses / KEYS;
        int first = (int) (accesses % KEYS);
        for (int i = 0; i < ACCESSES; i++) {
            backend.setCurrentKey(keys[first + i]);
            access.access(pass);
        }
        accesses += ACCESSES;
    }

    /** Takes a checkpoint, if there is a changelog. */
    @TearDown(Level.Invocation)
    public void checkpoint() throws Exception {
        if (changelog != Changelog.NONE) {
            task.checkpoint();
        }
    }

    @TearDown(Level.Trial)
    public void close() throws Exception {
        task.close();
        SimulatedStores.unregister(STORE);
    }
}
