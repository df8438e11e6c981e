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

import java.util.ArrayList;
import java.util.List;

/**
 * Partitions, in no order. Forgets those that their maps have dropped before it doubles, so that
 * maps that come and go are not kept. Used by the task thread.
 */
final class PartitionList {

    private static final int FEW = 64;

    private final List<LivePartition> partitions = new ArrayList<>();
    private int beforeCleanUp = FEW;

    void add(LivePartition partition) {
        if (partitions.size() >= beforeCleanUp) {
            partitions.removeIf(known -> known.dropped);
            beforeCleanUp = Math.max(FEW, 2 * partitions.size());
        }
        partitions.add(partition);
    }

    int size() {
        return partitions.size();
    }

    boolean isEmpty() {
        return partitions.isEmpty();
    }

    LivePartition get(int index) {
        return partitions.get(index);
    }

    /** Removes a partition; the last one takes its place. */
    void remove(int index) {
        LivePartition last = partitions.remove(partitions.size() - 1);
        if (index < partitions.size()) {
            partitions.set(index, last);
        }
    }
}
