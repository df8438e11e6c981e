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

package dev.dstl.spillable.table;

import dev.dstl.spillable.layout.HashMapCursor;
import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.EntryReader;
import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import javax.annotation.Nullable;

/**
 * Goes over one large map in slices, for the clean-up of expired user entries. Task thread only. If
 * the map moves meanwhile, user entries may be met twice.
 */
final class LargeMapVisit<K, N, S> {

    private static final int BUCKETS_PER_SLICE = 4;

    /** Empty slices in a row after which there is a pause. */
    private static final int MOST_EMPTY = 64;

    private final KeyGroups<K, N, S> groups;
    private final KeyGroupMap<K, N, S> group;
    private final ExpiredUserEntries<K, N, S> expired;
    private final K key;
    private final N namespace;
    private final HashMapCursor<Object, Object> heapCursor = new HashMapCursor<>();
    private int nextBucket;
    private boolean atEnd;
    private Map<Object, Object> slice = new HashMap<>();

    private LargeMapVisit(
            KeyGroups<K, N, S> groups,
            KeyGroupMap<K, N, S> group,
            ExpiredUserEntries<K, N, S> expired,
            K key,
            N namespace) {
        this.groups = groups;
        this.group = group;
        this.expired = expired;
        this.key = key;
        this.namespace = namespace;
    }

    /** Starts at the first slice; null if there is no such map, or it is small. */
    @Nullable
    static <K, N, S> LargeMapVisit<K, N, S> start(
            KeyGroups<K, N, S> groups,
            KeyGroupMap<K, N, S> group,
            ExpiredUserEntries<K, N, S> expired,
            K key,
            N namespace) {
        SpilledLayout<K, N, S> layout = groups.layout();
        if (!(layout instanceof MapLayout)) {
            return null;
        }
        S onHeap = group.peekHeap(key, namespace);
        boolean large;
        if (onHeap != null) {
            large =
                    ((Map<?, ?>) onHeap).size() > MapLayout.LARGE_ENTRIES
                            && HashMapCursor.isOver(onHeap);
        } else {
            try {
                PartitionedMap spilled = groups.spilled(group, key, namespace);
                large =
                        spilled != null
                                && layout.elements(spilled.entries()) > MapLayout.LARGE_ENTRIES;
            } catch (IOException e) {
                throw groups.unreadable(e);
            }
        }
        return large ? new LargeMapVisit<>(groups, group, expired, key, namespace) : null;
    }

    K key() {
        return key;
    }

    N namespace() {
        return namespace;
    }

    /** The next slice as a map of its own, which may be empty; null if there are no more. */
    @Nullable
    @SuppressWarnings("unchecked") // only maps are visited
    S next() {
        slice = new HashMap<>();
        if (atEnd) {
            return null;
        }
        for (int i = 0; i < MOST_EMPTY && slice.isEmpty() && !atEnd; i++) {
            Map<Object, Object> onHeap = (Map<Object, Object>) group.peekHeap(key, namespace);
            if (onHeap == null) {
                readBuckets();
            } else {
                atEnd =
                        !HashMapCursor.isOver(onHeap)
                                || !heapCursor.visit(
                                        onHeap, 1, e -> slice.put(e.getKey(), e.getValue()));
            }
        }
        return (S) slice;
    }

    private void readBuckets() {
        try {
            PartitionedMap spilled = groups.spilled(group, key, namespace);
            MapLayout<K, N, Object, Object> layout = layout();
            int buckets = spilled == null ? 0 : layout.bucketCount(spilled.entries());
            for (int i = 0; i < BUCKETS_PER_SLICE && nextBucket < buckets; i++) {
                EntryReader entries = spilled.entries();
                layout.visitBucket(entries, nextBucket++, buckets, entries.keyHash(), slice::put);
            }
            atEnd = nextBucket >= buckets;
        } catch (IOException e) {
            throw groups.unreadable(e);
        }
    }

    @SuppressWarnings("unchecked") // a map layout is one of maps
    private MapLayout<K, N, Object, Object> layout() {
        return (MapLayout<K, N, Object, Object>) (SpilledLayout<K, N, ?>) groups.layout();
    }

    /** Removes the user entries of the last slice from the map, but for those that are kept. */
    void removeFromSlice(Map<?, ?> kept) {
        slice.keySet().removeAll(kept.keySet());
        expired.remove(group, key, namespace, slice);
    }
}
