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
import dev.dstl.spillable.overlay.OffHeapBudget;
import dev.dstl.spillable.overlay.SlotMemory;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.apache.flink.util.ExceptionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The managed memory that Flink sets aside for keyed backends in one slot. All of them share it:
 * each has the same fraction, which is all that there is for state backends.
 */
final class ManagedMemoryShare {

    private static final Logger LOG = LoggerFactory.getLogger(ManagedMemoryShare.class);

    /** Copies of the class in other class loaders do not share with this one. */
    private static final String NAME =
            SlotMemory.class.getName() + "@" + System.identityHashCode(SlotMemory.class);

    private final MemoryManager memoryManager;
    private final double fraction;

    ManagedMemoryShare(MemoryManager memoryManager, double fraction) {
        this.memoryManager = memoryManager;
        this.fraction = fraction;
    }

    /**
     * The off-heap memory that a backend may use: what is configured, else its part of managed
     * memory, which is reserved until the last of its budgets is released, else a default.
     */
    OffHeapBudget budget(SpillConfig config) {
        if (config.offHeapBytes() > 0) {
            return new OffHeapBudget(config.offHeapBytes(), () -> {});
        }
        long bytes = fraction > 0 && fraction <= 1 ? memoryManager.computeMemorySize(fraction) : 0;
        if (bytes >= config.minOffHeapBytes()) {
            try {
                OpaqueMemoryResource<SlotMemory> shared =
                        memoryManager.getSharedMemoryResourceForManagedMemory(
                                NAME,
                                size -> new SlotMemory(size, config.minOffHeapBytes()),
                                fraction);
                return shared.getResourceHandle().join(() -> giveBack(shared));
            } catch (Exception e) {
                LOG.warn(
                        "{} bytes of managed memory are not free; {} bytes outside of it are used.",
                        bytes,
                        config.defaultOffHeapBytes(),
                        e);
            }
        }
        return new OffHeapBudget(config.defaultOffHeapBytes(), () -> {});
    }

    /**
     * A merge, or a snapshot that is being written, may end after Flink has freed the slot of its
     * task, with all that was reserved there.
     */
    private void giveBack(OpaqueMemoryResource<SlotMemory> shared) {
        try {
            shared.close();
        } catch (Exception e) {
            if (!memoryManager.isShutdown()) {
                ExceptionUtils.rethrow(e);
            }
        }
    }
}
