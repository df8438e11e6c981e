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

package dev.dstl.spillable;

import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.config.SpillableOptions;
import dev.dstl.spillable.registry.RegisteredStates;
import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.contrib.streaming.state.RocksDBOptions;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * Get and update of a counter per word, the access pattern of WordCount, through the backend
 * classes, on one thread. Arguments: backend (hashmap, heap, spilled, spilled37, rocksdb), keys,
 * off-heap megabytes, uniform or zipf.
 */
public final class WordCountBenchmark {

    private static final int KEY_GROUPS = 128;
    private static final int ROUNDS = 5;

    private WordCountBenchmark() {}

    public static void main(String[] args) throws Exception {
        int keys = Integer.parseInt(args[1]);
        int operations = Integer.getInteger("operations", 4_000_000);
        boolean zipf = args[3].equals("zipf");
        AbstractKeyedStateBackend<String> backend =
                KeyedBackends.create(
                        backend(args[0], Integer.parseInt(args[2])),
                        StringSerializer.INSTANCE,
                        KEY_GROUPS,
                        new KeyGroupRange(0, KEY_GROUPS - 1),
                        Collections.emptyList());
        ValueState<Long> counter =
                backend.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>("count", Types.LONG));
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        long before = runtime.totalMemory() - runtime.freeMemory();
        long start = nanos();
        for (int i = 0; i < keys; i++) {
            count(backend, counter, word(i));
        }
        System.out.printf(
                "%s %d keys: filled at %.2f M/s%n", args[0], keys, keys / 1e-3 / (nanos() - start));
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < ROUNDS; round++) {
            String[] words = new String[operations];
            for (int i = 0; i < operations; i++) {
                words[i] = word(zipf ? zipf(random, keys) : random.nextInt(keys));
            }
            start = nanos();
            for (String word : words) {
                count(backend, counter, word);
            }
            System.out.printf(
                    "%s %d keys %s round %d: %.2f M/s%n",
                    args[0], keys, args[3], round, operations / 1e-3 / (nanos() - start));
        }
        if (!args[0].equals("rocksdb")) {
            for (int i = 0; i < 3; i++) {
                start = nanos();
                KeyedBackends.run(
                        backend.snapshot(
                                i,
                                0,
                                new Discarding(),
                                CheckpointOptions.forCheckpointWithDefaultLocation()));
                System.out.printf(
                        "%s snapshot: %.2f M entries/s%n",
                        args[0], keys / 1e-3 / (nanos() - start));
            }
            System.gc();
            System.gc();
            System.out.printf(
                    "%s heap bytes per entry: %.1f%n",
                    args[0],
                    (runtime.totalMemory() - runtime.freeMemory() - before) / (double) keys);
        }
        backend.dispose();
    }

    /** Time of this thread on a processor: what others do on a shared machine does not count. */
    private static long nanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static void count(
            AbstractKeyedStateBackend<String> backend, ValueState<Long> counter, String word)
            throws IOException {
        backend.setCurrentKey(word);
        Long count = counter.value();
        counter.update(count == null ? 1L : count + 1);
    }

    private static String word(int i) {
        long spread = (i * 0x9E3779B97F4A7C15L) ^ i;
        String digits = Long.toHexString(spread);
        return "0000000000000000".substring(digits.length()) + digits;
    }

    /** Zipf with exponent 0.99 by inverting its approximate distribution, scattered over keys. */
    private static int zipf(SplittableRandom random, int keys) {
        double s = 0.01;
        double u = random.nextDouble();
        double rank = Math.pow(u * (Math.pow(keys, s) - 1) + 1, 1 / s);
        return (int) ((((long) rank) * 0x9E3779B1L & Long.MAX_VALUE) % keys);
    }

    private static StateBackend backend(String name, int offHeapMegabytes) {
        Configuration config = new Configuration();
        config.set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(offHeapMegabytes));
        switch (name) {
            case "hashmap":
                return new HashMapStateBackend();
            case "heap":
                return PlacedBackends.onHeap();
            case "real":
                return new SpillableStateBackend()
                        .configure(config, WordCountBenchmark.class.getClassLoader());
            case "spilled":
                return spilling(config, KEY_GROUPS);
            case "spilled37":
                return spilling(config, KEY_GROUPS * 37 / 100);
            case "rocksdb":
                config.set(RocksDBOptions.FIX_PER_SLOT_MEMORY_SIZE, MemorySize.ofMebiBytes(1024));
                return new EmbeddedRocksDBStateBackend()
                        .configure(config, WordCountBenchmark.class.getClassLoader());
            default:
                throw new IllegalArgumentException("Unknown backend " + name);
        }
    }

    private static StateBackend spilling(Configuration config, int groups) {
        return new SpillableStateBackend(
                SpillConfig.of(config), states -> new SpillFirstGroups(states, groups));
    }

    private static final class SpillFirstGroups implements StateMover {
        private final RegisteredStates<?> states;
        private final int groups;
        private boolean done;

        SpillFirstGroups(RegisteredStates<?> states, int groups) {
            this.states = states;
            this.groups = groups;
        }

        @Override
        public void keySelected() {
            if (done || states.tables().isEmpty()) {
                return;
            }
            done = true;
            try {
                for (StateTable<?, ?, ?> table : states.tables()) {
                    for (int i = 0; i < groups; i++) {
                        table.startSpill(i);
                        table.spill(i, Integer.MAX_VALUE);
                    }
                }
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        @Override
        public void close() {}
    }

    /** Counts a snapshot's bytes and drops them. */
    private static final class Discarding implements CheckpointStreamFactory {
        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) {
            return new CheckpointStateOutputStream() {
                private long position;

                @Override
                public long getPos() {
                    return position;
                }

                @Override
                public void write(int b) {
                    position++;
                }

                @Override
                public void write(byte[] b, int off, int len) {
                    position += len;
                }

                @Override
                public void flush() {}

                @Override
                public void sync() {}

                @Override
                public StreamStateHandle closeAndGetHandle() {
                    return new ByteStreamStateHandle("discarded", new byte[0]);
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public boolean canFastDuplicate(
                StreamStateHandle stateHandle, CheckpointedStateScope scope) {
            return false;
        }

        @Override
        public List<StreamStateHandle> duplicate(
                List<StreamStateHandle> stateHandles, CheckpointedStateScope scope) {
            return stateHandles;
        }
    }
}
