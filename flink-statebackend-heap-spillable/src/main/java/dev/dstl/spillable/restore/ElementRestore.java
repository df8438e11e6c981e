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

package dev.dstl.spillable.restore;

import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Places what snapshots have, entries as a whole or large lists and maps element by element, so
 * that a single one of them may be larger than the heap. Task thread only.
 */
final class ElementRestore<K> {

    /** Lists and maps of more elements are placed element by element. */
    static final int LARGE_SIZE = 64;

    private final StateMover mover;

    /**
     * @param mover asked before each entry or element whether it fits on the heap
     */
    ElementRestore(StateMover mover) {
        this.mover = mover;
    }

    /** Places an entry. */
    <N, S> void entry(
            StateTable<K, N, S> table, K key, int keyGroup, N namespace, S state, long bytes)
            throws IOException {
        if (!mover.restoresToHeap(bytes)) {
            table.placement().spillFromNowOn(keyGroup);
        }
        table.entries().restore(key, keyGroup, namespace, state, bytes);
    }

    /** Adds a user entry to a map. */
    <N> void userEntry(
            StateTable<K, N, Map<Object, Object>> table,
            K key,
            int keyGroup,
            N namespace,
            Object userKey,
            Object userValue,
            long bytes)
            throws IOException {
        askForRoom(table, key, keyGroup, namespace, bytes);
        Map<Object, Object> map = table.entries().heapState(key, keyGroup, namespace);
        PartitionedMap spilled =
                map == null ? table.entries().spilledHome(key, keyGroup, namespace) : null;
        if (spilled != null) {
            ((MapLayout<K, N, Object, Object>) table.entries().layout())
                    .put(spilled, userKey, userValue);
        } else {
            if (map == null) {
                map = new HashMap<>();
                table.entries().put(key, keyGroup, namespace, map);
            }
            map.put(userKey, userValue);
        }
        table.entries().userKeyChanged(key, keyGroup, namespace, userKey);
        table.entries().restoredElement(keyGroup, userKey, userValue, spilled == null, bytes);
    }

    /** Adds an element to a list. */
    <N> void element(
            StateTable<K, N, List<Object>> table,
            K key,
            int keyGroup,
            N namespace,
            Object element,
            long bytes)
            throws IOException {
        askForRoom(table, key, keyGroup, namespace, bytes);
        List<Object> list = table.entries().heapState(key, keyGroup, namespace);
        PartitionedMap spilled =
                list == null ? table.entries().spilledHome(key, keyGroup, namespace) : null;
        if (spilled != null) {
            ((ListLayout<K, N, Object>) table.entries().layout()).add(spilled, element);
        } else {
            if (list == null) {
                list = new ArrayList<>();
                table.entries().put(key, keyGroup, namespace, list);
            }
            list.add(element);
        }
        table.entries().restoredElement(keyGroup, null, element, spilled == null, bytes);
    }

    /** What was begun on the heap goes along if the rest has no room there. */
    private <N, S> void askForRoom(
            StateTable<K, N, S> table, K key, int keyGroup, N namespace, long bytes)
            throws IOException {
        if (!mover.restoresToHeap(bytes)) {
            table.placement().spillFromNowOn(keyGroup);
            table.entries().spillRestored(key, keyGroup, namespace);
        }
    }
}
