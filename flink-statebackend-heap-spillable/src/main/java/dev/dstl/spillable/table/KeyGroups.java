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

import dev.dstl.spillable.layout.SerializerException;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;

/**
 * The key groups of one state, the layout in which they spill, and every access to an entry of one
 * of them. Task thread only.
 *
 * <p>An access takes the group, the key, the namespace and the epoch of the key's selection; within
 * one epoch a key and namespace are serialized once, with {@link SpilledLayout#NO_EPOCH} each time.
 */
final class KeyGroups<K, N, S> {

    private static final int MEASURED_ENTRIES = 64;
    private static final int MEASURED_GROUPS = 256;

    private final String stateName;
    private final KeyGroupRange range;
    private final KeyGroupMap<K, N, S>[] groups;
    private final EntrySizes sizes = new EntrySizes();
    private SpilledLayout<K, N, S> layout;
    private int nextToMeasure;

    /**
     * @param stateId number by which partitions name the state
     */
    KeyGroups(
            int stateId,
            String stateName,
            KeyGroupRange range,
            TypeSerializer<S> stateSerializer,
            SpilledLayout<K, N, S> layout) {
        this.stateName = stateName;
        this.range = range;
        this.layout = layout;
        this.groups = groupArray(range.getNumberOfKeyGroups());
        for (int i = 0; i < groups.length; i++) {
            groups[i] =
                    new KeyGroupMap<>(
                            stateSerializer,
                            new StateIdentity(stateId, stateName, range.getKeyGroupId(i)),
                            sizes);
        }
    }

    /** What the entries of all groups take. */
    EntrySizes sizes() {
        return sizes;
    }

    /** Measures some entries on the heap, others each time. */
    void measure() {
        int groupsLeft = Math.min(groups.length, MEASURED_GROUPS);
        for (int left = MEASURED_ENTRIES; left > 0 && groupsLeft > 0; groupsLeft--) {
            KeyGroupMap<K, N, S> group = groups[nextToMeasure];
            left -= Math.max(1, Math.min(left, group.heapSize()));
            if (group.measure(MEASURED_ENTRIES)) {
                nextToMeasure = (nextToMeasure + 1) % groups.length;
            }
        }
    }

    KeyGroupRange range() {
        return range;
    }

    int count() {
        return groups.length;
    }

    /** The group at a position in the range, {@code [0, count())}. */
    KeyGroupMap<K, N, S> at(int position) {
        return groups[position];
    }

    /**
     * @throws IllegalArgumentException if the key group is not the task's
     */
    KeyGroupMap<K, N, S> group(int keyGroup) {
        int position = keyGroup - range.getStartKeyGroup();
        if (position < 0 || position >= groups.length) {
            throw KeyGroupRangeOffsets.newIllegalKeyGroupException(keyGroup, range);
        }
        return groups[position];
    }

    SpilledLayout<K, N, S> layout() {
        return layout;
    }

    /**
     * Takes over serializers registered anew.
     *
     * @param rewrite whether what is spilled has to be written in the new layout
     */
    void setLayout(
            SpilledLayout<K, N, S> newLayout,
            TypeSerializer<S> stateSerializer,
            boolean rewrite,
            SpillSpace space) {
        SpilledLayout<K, N, S> oldLayout = layout;
        layout = newLayout;
        for (KeyGroupMap<K, N, S> group : groups) {
            group.setStateSerializer(stateSerializer);
            if (rewrite && group.hasSpilled()) {
                try {
                    group.reencode(space.open(), oldLayout, newLayout);
                } catch (IOException e) {
                    throw SerializerException.unchecked(
                            "Cannot migrate spilled state '" + stateName + "'", e);
                }
            }
        }
    }

    @Nullable
    S get(KeyGroupMap<K, N, S> group, K key, N namespace, long epoch) {
        try {
            select(group, key, namespace, epoch);
            return group.get(key, namespace, layout);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** The state, only to be read; says nothing about how hot the group is. */
    @Nullable
    S peek(KeyGroupMap<K, N, S> group, K key, N namespace) {
        S onHeap = group.peekHeap(key, namespace);
        if (onHeap != null) {
            return onHeap;
        }
        try {
            PartitionedMap spilled = spilled(group, key, namespace);
            return spilled == null ? null : layout.read(spilled.entries());
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    void put(KeyGroupMap<K, N, S> group, K key, N namespace, S state, long epoch) {
        try {
            select(group, key, namespace, epoch);
            group.put(key, namespace, state, layout);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    void remove(KeyGroupMap<K, N, S> group, K key, N namespace, long epoch) {
        try {
            select(group, key, namespace, epoch);
            group.remove(key, namespace, layout);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    @Nullable
    S removeAndGet(KeyGroupMap<K, N, S> group, K key, N namespace, long epoch) {
        try {
            select(group, key, namespace, epoch);
            return group.removeAndGet(key, namespace, layout);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** Selects an entry in the layout; returns where it is or belongs, null for the heap. */
    @Nullable
    PartitionedMap spilledHome(KeyGroupMap<K, N, S> group, K key, N namespace, long epoch)
            throws IOException {
        select(group, key, namespace, epoch);
        return group.spilledHome(layout);
    }

    /** Selects an entry in the layout; returns the spilled map it is in, or null. */
    @Nullable
    PartitionedMap spilled(KeyGroupMap<K, N, S> group, K key, N namespace) throws IOException {
        select(group, key, namespace, SpilledLayout.NO_EPOCH);
        return group.spilled(layout);
    }

    private void select(KeyGroupMap<K, N, S> group, K key, N namespace, long epoch)
            throws IOException {
        if (group.hasSpilled()) {
            layout.select(key, namespace, epoch);
        }
    }

    void spillRestored(KeyGroupMap<K, N, S> group, K key, N namespace) {
        try {
            group.spillRestored(key, namespace, layout);
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    RuntimeException unreadable(IOException cause) {
        return SerializerException.unchecked(
                "Cannot read spilled state '" + stateName + "'", cause);
    }

    private RuntimeException unwritable(IOException cause) {
        return SerializerException.unchecked(
                "Cannot write spilled state '" + stateName + "'", cause);
    }

    void close() {
        for (KeyGroupMap<K, N, S> group : groups) {
            group.close();
        }
    }

    @SuppressWarnings("unchecked") // an array of a generic type
    private static <K, N, S> KeyGroupMap<K, N, S>[] groupArray(int length) {
        return (KeyGroupMap<K, N, S>[]) new KeyGroupMap<?, ?, ?>[length];
    }
}
