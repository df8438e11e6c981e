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

import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import javax.annotation.Nullable;

/**
 * A state's entries of any key of the task, for restores and for iterations that outlast the
 * selection of a key. Task thread only.
 *
 * <p>Every access throws an {@link IllegalArgumentException} if the key group is not the task's,
 * and an {@link java.io.UncheckedIOException} that names the state if spilled bytes cannot be read
 * or written.
 */
public final class TableEntries<K, N, S> {

    private final KeyGroups<K, N, S> groups;

    TableEntries(KeyGroups<K, N, S> groups) {
        this.groups = groups;
    }

    /** How the state lies in spilled entries; another one after its serializers changed. */
    public SpilledLayout<K, N, S> layout() {
        return groups.layout();
    }

    /** The state, or null if there is none. */
    @Nullable
    public S get(K key, int keyGroup, N namespace) {
        return groups.get(groups.group(keyGroup), key, namespace, SpilledLayout.NO_EPOCH);
    }

    /** Sets the state, which belongs to the table from then on. */
    public void put(K key, int keyGroup, N namespace, S state) {
        groups.put(groups.group(keyGroup), key, namespace, state, SpilledLayout.NO_EPOCH);
    }

    /**
     * Sets the state that a snapshot has, which belongs to the table from then on.
     *
     * @param serializedBytes what the entry took in the snapshot
     */
    public void restore(K key, int keyGroup, N namespace, S state, long serializedBytes) {
        KeyGroupMap<K, N, S> group = groups.group(keyGroup);
        groups.sizes().restored(key, namespace, state, serializedBytes);
        int onHeap = group.heapSize();
        put(key, keyGroup, namespace, state);
        if (group.heapSize() > onHeap) {
            group.restored(EntrySizes.elementsOf(state));
        }
    }

    /**
     * Says that an element was restored, which a snapshot has on its own.
     *
     * @param userKey of a map, null if the state is no map
     * @param onHeap whether it was put into a state on the heap
     * @param serializedBytes what it took in the snapshot
     */
    public void restoredElement(
            int keyGroup,
            @Nullable Object userKey,
            @Nullable Object element,
            boolean onHeap,
            long serializedBytes) {
        groups.sizes().restoredElement(userKey, element, serializedBytes);
        if (onHeap) {
            groups.group(keyGroup).restored(1);
        }
    }

    /** Writes a state off-heap that was begun on the heap, if its key group is being spilled. */
    public void spillRestored(K key, int keyGroup, N namespace) {
        groups.spillRestored(groups.group(keyGroup), key, namespace);
    }

    /** Says that a user key of a state, a map, is to be set or removed, wherever that is. */
    public void userKeyChanged(K key, int keyGroup, N namespace, Object userKey) {
        groups.group(keyGroup).userKeyChanged(key, namespace, userKey);
    }

    /** The state if it is on the heap, where it may be changed in place, else null. */
    @Nullable
    public S heapState(K key, int keyGroup, N namespace) {
        return groups.group(keyGroup).heapState(key, namespace);
    }

    /**
     * Selects an entry that is not on the heap in the {@link #layout()}.
     *
     * @return the spilled map it is in or belongs to, null if it is nowhere and belongs on the heap
     * @throws IOException if key or namespace cannot be serialized
     */
    @Nullable
    public PartitionedMap spilledHome(K key, int keyGroup, N namespace) throws IOException {
        return groups.spilledHome(groups.group(keyGroup), key, namespace, SpilledLayout.NO_EPOCH);
    }

    /**
     * Selects an entry in the {@link #layout()}.
     *
     * @return the spilled map it is in, or null if it is not spilled
     * @throws IOException if key or namespace cannot be serialized
     */
    @Nullable
    public PartitionedMap spilled(K key, int keyGroup, N namespace) throws IOException {
        return groups.spilled(groups.group(keyGroup), key, namespace);
    }
}
