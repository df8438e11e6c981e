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

import java.util.HashMap;
import java.util.Map;
import java.util.Spliterator;
import java.util.function.Consumer;

/**
 * Goes over the entries of a hash map in slices, while entries come and go between them. Those that
 * are there from start to end are met at least once.
 *
 * <p>A hash map has no cursor that outlives a change. Its spliterator, however, halves the range of
 * its table at no cost, which leads to any place of the table in as many steps as the length of the
 * table has bits. A table that doubles puts an entry of place {@code p} to {@code p} or {@code p +
 * length}, so places that were visited need not be visited again before the end of the old table.
 */
public final class HashMapCursor<UK, UV> {

    /** Places of the table per slice, as a power of two. */
    private static final int PLACES_BITS = 4;

    private int next;
    private int lengthBits;

    /** Whether a map lies as the cursor expects: only the class itself is known to. */
    public static boolean isOver(Object map) {
        return map.getClass() == HashMap.class;
    }

    /**
     * Visits the entries of some slices, which {@code visitor} must not change the map for.
     *
     * @return whether there are more
     */
    public boolean visit(Map<UK, UV> map, int slices, Consumer<? super Map.Entry<UK, UV>> visitor) {
        int bits = lengthBits(map);
        if (bits < lengthBits) {
            // A copy of the map, made for a snapshot: entries lie elsewhere in a shorter table.
            next = 0;
        }
        lengthBits = bits;
        int levels = Math.max(0, bits - PLACES_BITS);
        for (int i = 0; i < slices; i++) {
            if (next >= 1 << levels) {
                return false;
            }
            slice(map, levels, next++).forEachRemaining(visitor);
        }
        return next < 1 << levels;
    }

    private static int lengthBits(Map<?, ?> map) {
        Spliterator<?> last = map.entrySet().spliterator();
        int bits = 0;
        for (Spliterator<?> half = last.trySplit(); half != null; half = half.trySplit()) {
            bits++;
        }
        return bits;
    }

    private static <UK, UV> Spliterator<Map.Entry<UK, UV>> slice(
            Map<UK, UV> map, int levels, int number) {
        Spliterator<Map.Entry<UK, UV>> slice = map.entrySet().spliterator();
        for (int level = levels - 1; level >= 0; level--) {
            Spliterator<Map.Entry<UK, UV>> first = slice.trySplit();
            if ((number >>> level & 1) == 0) {
                slice = first;
            }
        }
        return slice;
    }
}
