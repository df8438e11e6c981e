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

import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Removes expired user entries from the maps of a table, and writes nothing else. Task thread only.
 *
 * <p>The job may be iterating over the map of the current key, so what has expired of it leaves the
 * heap only after another key was selected.
 */
final class ExpiredUserEntries<K, N, S> {

    /** User entries of one map that are to be removed in another selection of a key. */
    private static final class Waiting<K, N, S> {
        final KeyGroupMap<K, N, S> group;
        final K key;
        final N namespace;
        final Map<?, ?> userEntries;

        Waiting(KeyGroupMap<K, N, S> group, K key, N namespace, Map<?, ?> userEntries) {
            this.group = group;
            this.key = key;
            this.namespace = namespace;
            this.userEntries = userEntries;
        }
    }

    private final KeyGroups<K, N, S> groups;
    private final CurrentKey<K> currentKey;

    /** All of the same selection, {@link #waitingIn}. */
    private final List<Waiting<K, N, S>> waiting = new ArrayList<>();

    private long waitingIn;

    ExpiredUserEntries(KeyGroups<K, N, S> groups, CurrentKey<K> currentKey) {
        this.groups = groups;
        this.currentKey = currentKey;
    }

    /** Whether the job may be iterating over a map on the heap. */
    boolean mayBeIteratedOver(KeyGroupMap<K, N, S> group, K key, N namespace) {
        return key.equals(currentKey.getCurrentKey()) && group.peekHeap(key, namespace) != null;
    }

    /** Removes user entries from a map, with their values as it has them now. */
    void remove(KeyGroupMap<K, N, S> group, K key, N namespace, Map<?, ?> userEntries) {
        if (userEntries.isEmpty()) {
            return;
        }
        if (mayBeIteratedOver(group, key, namespace)) {
            waiting.add(new Waiting<>(group, key, namespace, userEntries));
            waitingIn = currentKey.epoch();
        } else {
            userEntries.keySet().forEach(userKey -> remove(group, key, namespace, userKey));
        }
    }

    /** Whether there are user entries to be removed in another selection of a key. */
    boolean areWaiting() {
        return !waiting.isEmpty();
    }

    /** Removes what has waited if another key was selected; false if that is still to come. */
    boolean removeWaiting() {
        if (waiting.isEmpty()) {
            return true;
        }
        if (currentKey.epoch() == waitingIn) {
            return false;
        }
        waiting.forEach(this::removeUnchanged);
        waiting.clear();
        return true;
    }

    /** Leaves alone what the job has set since, and what has moved off-heap. */
    private void removeUnchanged(Waiting<K, N, S> one) {
        // Seen once: the first change copies a map that a snapshot has, with all values.
        Map<?, ?> onHeap = (Map<?, ?>) one.group.peekHeap(one.key, one.namespace);
        if (onHeap == null) {
            return;
        }
        for (Map.Entry<?, ?> entry : one.userEntries.entrySet()) {
            if (onHeap.get(entry.getKey()) == entry.getValue()) {
                remove(one.group, one.key, one.namespace, entry.getKey());
            }
        }
    }

    @SuppressWarnings("unchecked") // only maps are visited
    private void remove(KeyGroupMap<K, N, S> group, K key, N namespace, Object userKey) {
        group.userKeyChanged(key, namespace, userKey);
        try {
            Map<Object, Object> onHeap = (Map<Object, Object>) group.heapState(key, namespace);
            if (onHeap == null) {
                PartitionedMap spilled = groups.spilled(group, key, namespace);
                if (spilled != null) {
                    layout().remove(spilled, userKey);
                }
            } else {
                onHeap.remove(userKey);
                if (onHeap.isEmpty()) {
                    groups.remove(group, key, namespace, SpilledLayout.NO_EPOCH);
                }
            }
        } catch (IOException e) {
            throw groups.unreadable(e);
        }
    }

    @SuppressWarnings("unchecked") // a map layout is one of maps
    private MapLayout<K, N, Object, Object> layout() {
        return (MapLayout<K, N, Object, Object>) (SpilledLayout<K, N, ?>) groups.layout();
    }
}
