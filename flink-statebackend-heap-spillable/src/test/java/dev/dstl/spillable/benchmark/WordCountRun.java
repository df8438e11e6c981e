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

import dev.dstl.spillable.KeyedBackends;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/**
 * One process of the measurement: get and update of a counter per word, the access pattern of
 * WordCount, through the backend's classes, on one thread. Arguments: placement, keys, operations.
 * Prints {@code result NAME VALUE} for everything it measured.
 */
public final class WordCountRun {

    static final int KEY_GROUPS = 128;

    private static final int ROUNDS = 3;
    private static final int SNAPSHOTS = 3;
    private static final int OPERATIONS_PER_LOOK = 64;
    private static final double ZIPF_EXPONENT = 0.99;

    private final int keys;
    private final int operations;
    private final Placement placement;
    private final SplittableRandom random = new SplittableRandom(7);
    private final AbstractKeyedStateBackend<String> backend;
    private final ValueState<Long> counter;

    private WordCountRun(Placement placement, int keys, int operations) throws Exception {
        this.placement = placement;
        this.keys = keys;
        this.operations = operations;
        this.backend =
                KeyedBackends.create(
                        placement.backend(keys),
                        StringSerializer.INSTANCE,
                        KEY_GROUPS,
                        new KeyGroupRange(0, KEY_GROUPS - 1),
                        Collections.emptyList());
        this.counter =
                backend.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>("count", Types.LONG));
    }

    public static void main(String[] args) throws Exception {
        new WordCountRun(
                        Placement.valueOf(args[0]),
                        Integer.parseInt(args[1]),
                        Integer.parseInt(args[2]))
                .run();
    }

    private void run() throws Exception {
        long heapBefore = heapBytes();
        Stopwatch fill = new Stopwatch();
        for (int i = 0; i < keys; i++) {
            count(word(i));
        }
        fill.report("fill", keys);
        measure("uniform", () -> random.nextInt(keys));
        measure("zipf", this::zipf);
        if (placement != Placement.ROCKSDB) {
            // RocksDB's native snapshot writes no entries, it links files.
            snapshots();
        }
        print("heap", (heapBytes() - heapBefore) / (double) keys);
        backend.dispose();
    }

    private void measure(String name, IntSupplier ranks) throws IOException {
        for (int round = 0; round <= ROUNDS; round++) {
            String[] words = new String[operations];
            for (int i = 0; i < operations; i++) {
                words[i] = word(ranks.getAsInt());
            }
            Stopwatch stopwatch = new Stopwatch();
            long longestNanos = 0;
            long last = System.nanoTime();
            for (int i = 0; i < operations; i++) {
                count(words[i]);
                if (i % OPERATIONS_PER_LOOK == 0) {
                    long now = System.nanoTime();
                    longestNanos = Math.max(longestNanos, now - last);
                    last = now;
                }
            }
            if (round > 0) {
                stopwatch.report(name, operations);
                print(name + "-pause", longestNanos / 1e6);
            }
        }
    }

    private void snapshots() throws Exception {
        for (int i = 0; i < SNAPSHOTS; i++) {
            Stopwatch stopwatch = new Stopwatch();
            KeyedBackends.run(
                    backend.snapshot(
                            i,
                            0,
                            new DiscardedSnapshots(),
                            CheckpointOptions.forCheckpointWithDefaultLocation()));
            stopwatch.report("snapshot", keys);
        }
    }

    private void count(String word) throws IOException {
        backend.setCurrentKey(word);
        Long count = counter.value();
        counter.update(count == null ? 1L : count + 1);
    }

    /** Sixteen characters, different for each {@code i}. */
    static String word(int i) {
        String digits = Long.toHexString((i * 0x9E3779B97F4A7C15L) ^ i);
        return "0000000000000000".substring(digits.length()) + digits;
    }

    /** Returns a key by inverting the approximate distribution; ranks are scattered. */
    private int zipf() {
        double s = 1 - ZIPF_EXPONENT;
        double rank = Math.pow(random.nextDouble() * (Math.pow(keys, s) - 1) + 1, 1 / s);
        return (int) ((((long) rank) * 0x9E3779B1L & Long.MAX_VALUE) % keys);
    }

    private static long heapBytes() {
        System.gc();
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static void print(String result, double value) {
        System.out.println("result " + result + " " + value);
    }

    /** Measures wall-clock time and CPU time of this thread. */
    private static final class Stopwatch {

        private final long startNanos = System.nanoTime();
        private final long startCpuNanos = cpuNanos();

        void report(String name, int count) {
            print(name, count * 1e3 / (System.nanoTime() - startNanos));
            print(name + "-cpu", count * 1e3 / (cpuNanos() - startCpuNanos));
        }

        private static long cpuNanos() {
            return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        }
    }
}
