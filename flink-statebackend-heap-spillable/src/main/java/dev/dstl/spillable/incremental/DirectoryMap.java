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

import dev.dstl.spillable.overlay.RestoredPartition;
import dev.dstl.spillable.partition.SealedPartition;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;

/** What a {@link DirectoryFormat directory} says of one state in one key group. */
final class DirectoryMap {

    /** A range of hashes. */
    static final class Range {
        final int depth;
        final int firstHash;
        final int stateId;

        /** Null if nothing is sealed. */
        @Nullable final PartitionLocation location;

        /** What was read at the location; null before. */
        @Nullable SealedPartition sealed;

        Range(int depth, int firstHash, int stateId, @Nullable PartitionLocation location) {
            this.depth = depth;
            this.firstHash = firstHash;
            this.stateId = stateId;
            this.location = location;
        }
    }

    final String stateName;
    final int keyGroup;
    final long seed;

    /** Number of entries, without parts. */
    final int entries;

    /** Bytes of all entries. */
    final long entryBytes;

    final List<Range> ranges = new ArrayList<>();

    DirectoryMap(String stateName, int keyGroup, long seed, int entries, long entryBytes) {
        this.stateName = stateName;
        this.keyGroup = keyGroup;
        this.seed = seed;
        this.entries = entries;
        this.entryBytes = entryBytes;
    }

    /** Whether the ranges cover all hashes, in order. */
    boolean isComplete() {
        long next = 0;
        for (Range range : ranges) {
            if (Integer.toUnsignedLong(range.firstHash) != next
                    || range.depth < 0
                    || range.depth > Integer.SIZE) {
                return false;
            }
            next += 1L << (Integer.SIZE - range.depth);
        }
        return next == 1L << Integer.SIZE;
    }

    /** The ranges with what was read of each. */
    List<RestoredPartition> partitions() {
        List<RestoredPartition> partitions = new ArrayList<>(ranges.size());
        for (Range range : ranges) {
            partitions.add(new RestoredPartition(range.depth, range.firstHash, range.sealed));
        }
        return partitions;
    }

    @Override
    public String toString() {
        return "state '" + stateName + "', key group " + keyGroup;
    }
}
