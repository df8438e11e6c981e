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

package dev.dstl.spillable.overlay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.util.concurrent.Executors;

/** A pool over one directory, with chunk files of 1 MiB; checks that it gets all back. */
public final class PoolOnDisk implements AutoCloseable {

    static final StateIdentity IDENTITY = new StateIdentity(1, "a state", 5);

    /** Goes on when a test says so. */
    final AtomicLong clockMillis = new AtomicLong();

    private final PartitionPool pool;
    private boolean released;

    /** Merges run on the calling thread. */
    public PoolOnDisk(Path disk, long budgetBytes) throws IOException {
        this(disk, budgetBytes, Executors.newDirectExecutorService());
    }

    PoolOnDisk(Path disk, long budgetBytes, ExecutorService executor) throws IOException {
        this(disk, budgetBytes, executor, new KeyHash(7));
    }

    PoolOnDisk(Path disk, long budgetBytes, ExecutorService executor, KeyHash hash)
            throws IOException {
        this(disk, budgetBytes, executor, hash, MemorySegmentFactory::allocateOffHeapUnsafeMemory);
    }

    /**
     * @param allocation of the memory of overlays and merges
     */
    PoolOnDisk(
            Path disk,
            long budgetBytes,
            ExecutorService executor,
            KeyHash hash,
            IntFunction<MemorySegment> allocation)
            throws IOException {
        pool =
                new PartitionPool(
                        new OffHeapBudget(budgetBytes, () -> released = true, allocation),
                        new ChunkFiles(
                                new SpillDirectories(Collections.singletonList(disk)),
                                1 << 20,
                                clockMillis::get),
                        hash,
                        executor);
    }

    /** The pool of a backend that spills to a directory. */
    public static SpillSpace space(Path disk, long budgetBytes) {
        return new SpillSpace(() -> new PoolOnDisk(disk, budgetBytes).pool());
    }

    public PartitionPool pool() {
        return pool;
    }

    /** An empty map of some state in some key group. */
    public PartitionedMap newMap() {
        return new PartitionedMap(pool, IDENTITY);
    }

    boolean isReleased() {
        return released;
    }

    @Override
    public void close() throws IOException {
        pool.close();
        assertThat(pool.overlayBytes()).as("blocks never given back").isZero();
        assertThat(pool.budget().usedBytes()).as("memory never given back").isZero();
        assertThat(released).as("budget released").isTrue();
    }
}
