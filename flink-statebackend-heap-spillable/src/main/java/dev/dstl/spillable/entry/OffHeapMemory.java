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

package dev.dstl.spillable.entry;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.Extent;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;

/**
 * Off-heap memory and extents of one backend: counted in its budget, and given back when nobody can
 * look at them any more. Allocates on the task thread, gives back on any thread.
 *
 * <p>The pool and every view hold it; the last holder releases the budget and closes the chunk
 * files. While a reader of another thread looks at live memory, nothing is freed.
 */
final class OffHeapMemory {

    private final OffHeapBudget budget;
    private final ChunkFiles chunks;
    private final AtomicInteger holders = new AtomicInteger(1);
    private final AtomicInteger foreignReaders = new AtomicInteger();
    private final Queue<Runnable> deferred = new ConcurrentLinkedQueue<>();

    /**
     * @param chunks closed with the last holder
     */
    OffHeapMemory(OffHeapBudget budget, ChunkFiles chunks) {
        this.budget = budget;
        this.chunks = chunks;
    }

    OffHeapBudget budget() {
        return budget;
    }

    ChunkFiles chunks() {
        return chunks;
    }

    MemorySegment allocateIndex(int bytes) {
        budget.addIndex(bytes);
        return MemorySegmentFactory.allocateOffHeapUnsafeMemory(bytes);
    }

    void freeIndex(MemorySegment slots) {
        giveBack(
                () -> {
                    budget.addIndex(-slots.size());
                    slots.free();
                });
    }

    MemorySegment allocateBlock(int bytes) {
        budget.addBlock(bytes);
        return MemorySegmentFactory.allocateOffHeapUnsafeMemory(bytes);
    }

    void freeBlock(MemorySegment segment) {
        giveBack(
                () -> {
                    budget.addBlock(-segment.size());
                    segment.free();
                });
    }

    void releaseExtent(Extent extent) {
        giveBack(() -> chunks.release(extent));
    }

    /** Runs {@code free} once no other thread looks at live memory. */
    private void giveBack(Runnable free) {
        if (foreignReaders.get() == 0) {
            free.run();
        } else {
            deferred.add(free);
        }
    }

    /** Keeps memory that is given back from now on, until {@link #leaveForeign()}. */
    void enterForeign() {
        holders.incrementAndGet();
        foreignReaders.incrementAndGet();
    }

    void leaveForeign() throws IOException {
        if (foreignReaders.decrementAndGet() == 0) {
            for (Runnable free = deferred.poll(); free != null; free = deferred.poll()) {
                giveBack(free);
                if (foreignReaders.get() > 0) {
                    break;
                }
            }
        }
        release();
    }

    void hold() {
        holders.incrementAndGet();
    }

    /**
     * @throws IOException if this was the last holder and a directory cannot be deleted
     */
    void release() throws IOException {
        if (holders.decrementAndGet() == 0) {
            budget.release();
            chunks.close();
        }
    }
}
