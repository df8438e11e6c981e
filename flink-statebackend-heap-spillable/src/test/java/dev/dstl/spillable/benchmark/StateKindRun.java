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

package dev.dstl.spillable.benchmark;

import com.sun.management.ThreadMXBean;
import dev.dstl.spillable.KeyedBackends;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.Locale;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * One process of the measurement: accesses of every kind of state, one kind after the other, on one
 * thread, over keys that come in a scattered order. Arguments: placement, keys. Prints {@code
 * result NAME VALUE}: CPU time and bytes allocated per access.
 */
public final class StateKindRun {

    /** Passes over all keys; multiples of eight cover lists of all lengths. */
    private static final int WARM_UP_PASSES = 16;

    private static final int PASSES = 8;
    private static final int ROUNDS = 3;

    /** A prime, so that a pass misses no key unless the keys are a multiple of it. */
    private static final long STRIDE = 61_813;

    /** Size of a list or a map relative to the single counter that placements assume. */
    private static final int COUNTERS_PER_KEY = 8;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private StateKindRun() {}

    public static void main(String[] args) throws Exception {
        Long[] keys = new Long[Integer.parseInt(args[1])];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i * STRIDE % keys.length;
        }
        for (StateKind kind : StateKind.values()) {
            measure(Placement.valueOf(args[0]), kind, keys);
        }
    }

    private static void measure(Placement placement, StateKind kind, Long[] keys) throws Exception {
        AbstractKeyedStateBackend<Long> backend =
                KeyedBackends.create(
                        placement.backend(keys.length * COUNTERS_PER_KEY),
                        LongSerializer.INSTANCE,
                        WordCountRun.KEY_GROUPS,
                        new KeyGroupRange(0, WordCountRun.KEY_GROUPS - 1),
                        Collections.emptyList());
        StateKind.Access access = kind.open(backend);
        String name = kind.name().toLowerCase(Locale.ROOT);
        long pass = 0;
        for (; pass < WARM_UP_PASSES; pass++) {
            accessAll(backend, access, keys, pass);
        }
        long thread = Thread.currentThread().getId();
        for (int round = 0; round < ROUNDS; round++) {
            long cpu = THREADS.getCurrentThreadCpuTime();
            long allocated = THREADS.getThreadAllocatedBytes(thread);
            for (int i = 0; i < PASSES; i++) {
                accessAll(backend, access, keys, pass++);
            }
            double accesses = (double) PASSES * keys.length;
            print(name, (THREADS.getCurrentThreadCpuTime() - cpu) / accesses);
            print(
                    name + "-bytes",
                    (THREADS.getThreadAllocatedBytes(thread) - allocated) / accesses);
        }
        backend.dispose();
    }

    private static void accessAll(
            AbstractKeyedStateBackend<Long> backend,
            StateKind.Access access,
            Long[] keys,
            long pass)
            throws Exception {
        for (Long key : keys) {
            backend.setCurrentKey(key);
            access.run(pass);
        }
    }

    private static void print(String result, double value) {
        System.out.println("result " + result + " " + value);
    }
}
