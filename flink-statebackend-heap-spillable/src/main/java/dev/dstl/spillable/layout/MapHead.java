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

package dev.dstl.spillable.layout;

import java.io.IOException;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.MemorySegment;

/**
 * The head of a map, see {@link MapLayout}: short for a map in one bucket, which lies behind it.
 *
 * <pre>
 *   byte userEntries                               buckets = 1, userEntries &lt; 255
 *   byte 255 | int userEntries | int buckets
 * </pre>
 *
 * A format: see {@link SpilledLayout}.
 */
final class MapHead {

    private static final int LONG = 255;
    private static final int USER_ENTRIES_AT = 1;
    private static final int BUCKETS_AT = 5;
    private static final int LONG_BYTES = 9;
    private static final int SHORT_BYTES = 1;

    private MapHead() {}

    /** Replaces what {@code out} has by a head. */
    static void write(DataOutputSerializer out, int userEntries, int buckets) throws IOException {
        out.clear();
        if (buckets == 1 && userEntries < LONG) {
            out.writeByte(userEntries);
            return;
        }
        out.writeByte(LONG);
        out.writeInt(Integer.reverseBytes(userEntries));
        out.writeInt(Integer.reverseBytes(buckets));
    }

    private static boolean isLong(MemorySegment segment, int at) {
        return (segment.get(at) & 0xFF) == LONG;
    }

    static int userEntries(MemorySegment segment, int at) {
        return isLong(segment, at)
                ? segment.getIntLittleEndian(at + USER_ENTRIES_AT)
                : segment.get(at) & 0xFF;
    }

    static int buckets(MemorySegment segment, int at) {
        return isLong(segment, at) ? segment.getIntLittleEndian(at + BUCKETS_AT) : 1;
    }

    /** Its length. */
    static int bytes(MemorySegment segment, int at) {
        return isLong(segment, at) ? LONG_BYTES : SHORT_BYTES;
    }

    /** The bucket of a map of that many buckets in which a user key with that hash lies. */
    static int bucketOf(int hash, int buckets) {
        int level = Integer.highestOneBit(buckets);
        int number = hash & ((level << 1) - 1);
        return number < buckets ? number : number & (level - 1);
    }
}
