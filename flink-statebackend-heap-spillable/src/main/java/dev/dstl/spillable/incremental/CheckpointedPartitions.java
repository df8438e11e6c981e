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

package dev.dstl.spillable.incremental;

import dev.dstl.spillable.partition.SealedPartition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;

/** Which sealed partitions a checkpoint has, and where. Filled by one thread, then immutable. */
final class CheckpointedPartitions {

    /**
     * By {@link SealedPartition#contents()}, as a partition may lie in another chunk file by now;
     * without its id, whose page may not be in memory.
     */
    private final Map<Object, Located> locations = new HashMap<>();

    /** A partition and where it is. */
    static final class Located {
        final SealedPartition partition;
        final PartitionLocation location;

        private Located(SealedPartition partition, PartitionLocation location) {
            this.partition = partition;
            this.location = location;
        }
    }

    private final Map<SharedFile, Integer> files = new HashMap<>();
    private final List<SharedFile> filesInOrder = new ArrayList<>();

    void add(SealedPartition partition, PartitionLocation location) {
        locations.put(partition.contents(), new Located(partition, location));
        if (files.putIfAbsent(location.file, filesInOrder.size()) == null) {
            filesInOrder.add(location.file);
        }
    }

    @Nullable
    PartitionLocation location(SealedPartition partition) {
        Located located = locations.get(partition.contents());
        return located == null ? null : located.location;
    }

    /** The partitions in one of the files, in the order in which they lie there. */
    List<Located> in(SharedFile file) {
        List<Located> located = new ArrayList<>();
        locations
                .values()
                .forEach(
                        one -> {
                            if (one.location.file == file) {
                                located.add(one);
                            }
                        });
        located.sort(Comparator.comparingLong(one -> one.location.offset));
        return located;
    }

    /** The files, each with at least one of the partitions. */
    List<SharedFile> files() {
        return filesInOrder;
    }

    /** Position of a file in {@link #files()}. */
    int indexOf(SharedFile file) {
        return files.get(file);
    }

    boolean refersTo(SharedFile file) {
        return files.containsKey(file);
    }
}
