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

package dev.dstl.log.segment;

import java.util.Arrays;

/**
 * Number and plain bytes of the records of each key group. Not thread-safe; reuses its memory for
 * every batch.
 */
final class KeyGroupSizes {

    private int[] records = new int[0];
    private long[] bytes = new long[0];

    /** End of the slots in use; slot 0 is for records without a key group. */
    private int end;

    void clear() {
        Arrays.fill(records, 0, end, 0);
        Arrays.fill(bytes, 0, end, 0);
        end = 0;
    }

    /**
     * Adds a record.
     *
     * @param keyGroup -1 for a record without a key group
     * @param plainBytes bytes of the record and of its length
     */
    void add(int keyGroup, int plainBytes) {
        int slot = keyGroup + 1;
        if (slot >= end) {
            extendTo(slot);
        }
        records[slot]++;
        bytes[slot] += plainBytes;
    }

    private void extendTo(int slot) {
        if (slot >= records.length) {
            int length = Math.max(slot + 1, 2 * records.length);
            records = Arrays.copyOf(records, length);
            bytes = Arrays.copyOf(bytes, length);
        }
        end = slot + 1;
    }

    /** Returns the highest key group of the records, of which there is at least one. */
    int highestKeyGroup() {
        return end - 2;
    }

    /** Returns the number of records of a key group up to the highest. */
    int records(int keyGroup) {
        return records[keyGroup + 1];
    }

    /** Returns the plain bytes of a key group up to the highest. */
    long plainBytes(int keyGroup) {
        return bytes[keyGroup + 1];
    }

    long keptBytes() {
        return (long) records.length * (Integer.BYTES + Long.BYTES);
    }
}
