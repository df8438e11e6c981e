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

package dev.dstl.spillable.spill;

import dev.dstl.spillable.size.ObjectLayout;
import java.util.Collection;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;

/**
 * Counts the timers of one backend, which never leave the heap, and estimates how many bytes they
 * take. Counted on the task thread, read by any thread.
 *
 * <p>Bytes of the objects and arrays per timer, by the layout of HotSpot with compressed class
 * pointers; tables and arrays grow by leaps, so they are between full and half empty:
 *
 * <pre>{@code
 *                                  compressed    full references
 * the timer                            32              40
 * node in the map of duplicates        32              40
 * table of that map, 1.3 to 2.7         8              15
 * array of the queue, 1 to 1.5          5              10
 *                                      77             105
 * }</pre>
 *
 * Key and namespace come on top.
 */
final class TimerSizes {

    private static final int STRUCTURE_BYTES = ObjectLayout.hasCompressedReferences() ? 77 : 105;

    /** Key and namespace take about this many times the bytes they serialize to. */
    private static final int OBJECT_FACTOR = 2;

    /** Of key and namespace, if their serializers do not know the length. */
    private static final int ASSUMED_SERIALIZED_BYTES = 32;

    private final SpillCounters counters;
    private volatile long count;
    private volatile long bytes;

    TimerSizes(SpillCounters counters) {
        this.counters = counters;
    }

    /** Counts what the queues hold, without looking at single timers. */
    void count(Collection<HeapPriorityQueueSnapshotRestoreWrapper<?>> queues) {
        long counted = 0;
        long estimated = 0;
        for (HeapPriorityQueueSnapshotRestoreWrapper<?> queue : queues) {
            long size = queue.getPriorityQueue().size();
            counted += size;
            estimated +=
                    size * bytesPerTimer(queue.getMetaInfo().getElementSerializer().getLength());
        }
        count = counted;
        bytes = estimated;
        counters.timers(counted, estimated);
    }

    /**
     * @param serializedBytes of a timer: time, key and namespace; negative if they differ
     */
    static long bytesPerTimer(int serializedBytes) {
        int keyAndNamespace =
                serializedBytes < 0
                        ? ASSUMED_SERIALIZED_BYTES
                        : Math.max(0, serializedBytes - Long.BYTES);
        return STRUCTURE_BYTES + (long) OBJECT_FACTOR * keyAndNamespace;
    }

    /** Timers, as last counted. */
    long count() {
        return count;
    }

    /** Of the timers, as last counted. */
    long bytes() {
        return bytes;
    }
}
