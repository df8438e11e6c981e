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

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import javax.annotation.Nullable;

/**
 * Iterates over a spilled map bucket by bucket, so that at most one bucket is on the heap. User
 * entries may come and go meanwhile: those there from start to end are met exactly once. Task
 * thread only.
 */
public final class UserEntryIterator<K, N, UK, UV> implements Iterator<Map.Entry<UK, UV>> {

    /**
     * What the iterator needs from its surroundings: where the map is now, and how to change it.
     */
    public interface Source<K, N, UK, UV> {
        /**
         * Selects the map in the layout and returns where it is, or null if it is not spilled any
         * more.
         *
         * @throws IOException if its key cannot be serialized
         */
        PartitionedMap select() throws IOException;

        /** The map if it is not spilled any more; empty if it does not exist. Read-only here. */
        Map<UK, UV> onHeap();

        /** Sets a user entry, wherever the map is now. */
        void put(UK userKey, UV userValue);

        /** Removes a user entry, wherever the map is now. */
        void remove(UK userKey);
    }

    private final MapLayout<K, N, UK, UV> layout;
    private final Source<K, N, UK, UV> source;
    private final int bucketCount;
    @Nullable private final KeyHash hash;

    /** Null unless the map was on the heap when the last bucket was read. */
    @Nullable private UserKeysByBucket<UK> heapKeys;

    private int nextBucket;
    private List<Map.Entry<UK, UV>> found = new ArrayList<>();
    private int given;
    private Map.Entry<UK, UV> current;

    /**
     * Starts at the first bucket, reading nothing of it yet.
     *
     * @throws IOException if the map's key cannot be serialized
     */
    public UserEntryIterator(MapLayout<K, N, UK, UV> layout, Source<K, N, UK, UV> source)
            throws IOException {
        this.layout = layout;
        this.source = source;
        PartitionedMap map = source.select();
        this.bucketCount = map == null ? 0 : layout.bucketCount(map.entries());
        this.hash = map == null ? null : map.entries().keyHash();
    }

    @Override
    public boolean hasNext() {
        while (given == found.size()) {
            if (nextBucket >= bucketCount) {
                return false;
            }
            found = new ArrayList<>();
            given = 0;
            readBucket(nextBucket++);
        }
        return true;
    }

    private void readBucket(int number) {
        try {
            PartitionedMap map = source.select();
            if (map != null) {
                heapKeys = null;
                layout.visitBucket(
                        map.entries(),
                        number,
                        bucketCount,
                        hash,
                        (k, v) -> found.add(new UserEntry(k, v)));
                return;
            }
            readOnHeap(number, source.onHeap());
        } catch (IOException e) {
            throw SerializerException.unchecked("Cannot read a spilled map", e);
        }
    }

    private void readOnHeap(int number, Map<UK, UV> map) throws IOException {
        if (heapKeys == null) {
            heapKeys = UserKeysByBucket.of(map, layout, number, bucketCount, hash);
        }
        for (UK userKey : heapKeys.of(number)) {
            UV userValue = map.get(userKey);
            if (userValue != null || map.containsKey(userKey)) {
                found.add(new UserEntry(userKey, userValue));
            }
        }
    }

    @Override
    public Map.Entry<UK, UV> next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        current = found.get(given++);
        return current;
    }

    @Override
    public void remove() {
        if (current == null) {
            throw new IllegalStateException("remove() needs a call of next() before");
        }
        source.remove(current.getKey());
        current = null;
    }

    private final class UserEntry extends AbstractMap.SimpleEntry<UK, UV> {

        private static final long serialVersionUID = 1L;

        UserEntry(UK key, UV value) {
            super(key, value);
        }

        @Override
        public UV setValue(UV value) {
            source.put(getKey(), value);
            return super.setValue(value);
        }
    }
}
