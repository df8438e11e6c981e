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

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import dev.dstl.spillable.overlay.OffHeapBudget;
import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.table.CurrentKey;
import dev.dstl.spillable.table.Residency;
import dev.dstl.spillable.table.StateTable;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;

/**
 * Moves one map to chunk files and back, cleans it up, and prints the longest steps, of as many
 * entries as the scheduler has between two looks at the clock. Argument: number of user entries.
 */
public final class LargeMapRun {

    private static final int SPILLED_PER_STEP = 16;
    private static final int LOADED_PER_STEP = 64;

    private LargeMapRun() {}

    /** One step of what is measured. */
    private interface Step {
        boolean run() throws Exception;
    }

    /** Runs in a process of its own. */
    public static void main(String[] args) throws Exception {
        int userEntries = Integer.parseInt(args[0]);
        Path disk = Files.createTempDirectory("large-map");
        ExecutorService executor = Executors.newSingleThreadExecutor();
        SpillSpace space =
                new SpillSpace(
                        () ->
                                new PartitionPool(
                                        new OffHeapBudget(64 << 20, () -> {}),
                                        new ChunkFiles(
                                                new SpillDirectories(
                                                        Collections.singletonList(disk)),
                                                64 << 20,
                                                () -> System.nanoTime() / 1_000_000,
                                                executor),
                                        new KeyHash(1),
                                        executor));
        StateTable<Long, VoidNamespace, Map<String, Long>> table =
                new StateTable<>(
                        new CurrentKey<>(new KeyGroupRange(0, 0), 1),
                        new RegisteredKeyValueStateBackendMetaInfo<>(
                                StateDescriptor.Type.MAP,
                                "state",
                                VoidNamespaceSerializer.INSTANCE,
                                new MapSerializer<>(
                                        StringSerializer.INSTANCE, LongSerializer.INSTANCE)),
                        LongSerializer.INSTANCE,
                        space);
        for (int round = 0; round < 3; round++) {
            Map<String, Long> map = new HashMap<>();
            for (long i = 0; i < userEntries; i++) {
                map.put("user key " + i, i);
            }
            table.entries().put(1L, 0, VoidNamespace.INSTANCE, map);
            measure("clean up on the heap", cleanUp(table));
            table.placement().startSpill(0);
            measure(
                    "spill",
                    () -> {
                        table.placement().spill(0, SPILLED_PER_STEP);
                        return table.placement().residency(0) == Residency.SPILLING;
                    });
            measure("clean up spilled", cleanUp(table));
            table.placement().startLoad(0);
            measure(
                    "load",
                    () -> {
                        table.placement().load(0, LOADED_PER_STEP);
                        return table.placement().residency(0) == Residency.LOADING;
                    });
        }
        table.close();
        space.close();
        Files.delete(disk);
    }

    private static Step cleanUp(StateTable<Long, VoidNamespace, Map<String, Long>> table) {
        StateIncrementalVisitor<Long, VoidNamespace, Map<String, Long>> visitor = table.visitor(5);
        return () -> {
            visitor.nextEntries();
            return visitor.hasNext();
        };
    }

    private static void measure(String what, Step step) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = System.nanoTime();
        long longest = 0;
        long longestCpu = 0;
        int longestAt = 0;
        int over = 0;
        int steps = 0;
        boolean more = true;
        for (; more; steps++) {
            long cpu = threads.getCurrentThreadCpuTime();
            long before = System.nanoTime();
            more = step.run();
            long nanos = System.nanoTime() - before;
            longest = Math.max(longest, nanos);
            long cpuNanos = threads.getCurrentThreadCpuTime() - cpu;
            over += cpuNanos > 10_000_000 ? 1 : 0;
            if (cpuNanos > longestCpu) {
                longestCpu = cpuNanos;
                longestAt = steps;
            }
        }
        System.out.printf(
                "%-21s %7.1f ms, %d steps; longest %.2f ms, of CPU time %.2f ms (step %d), %d over"
                        + " 10 ms%n",
                what,
                (System.nanoTime() - start) / 1e6,
                steps,
                longest / 1e6,
                longestCpu / 1e6,
                longestAt,
                over);
    }
}
