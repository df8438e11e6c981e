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

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.StateEntry;

/** The entries of one state in one key group. Task thread only. */
final class KeyGroupMap<K, N, S> {

    private final HeapMap<K, N, S> heap;

    KeyGroupMap(TypeSerializer<S> stateSerializer) {
        this.heap = new HeapMap<>(stateSerializer);
    }

    int size() {
        return heap.size();
    }

    S get(K key, N namespace) {
        return heap.get(key, namespace);
    }

    void put(K key, N namespace, S state) {
        heap.put(key, namespace, state);
    }

    S remove(K key, N namespace) {
        return heap.remove(key, namespace);
    }

    void setStateSerializer(TypeSerializer<S> stateSerializer) {
        heap.setStateSerializer(stateSerializer);
    }

    /** All entries as of now, in a list of their own. */
    List<StateEntry<K, N, S>> entries() {
        List<StateEntry<K, N, S>> entries = new ArrayList<>(size());
        for (int cursor = 0; cursor < heap.cursorEnd(); cursor++) {
            heap.visit(cursor, entries::add);
        }
        return entries;
    }

    int cursorEnd() {
        return heap.cursorEnd();
    }

    void entriesAt(int cursor, List<StateEntry<K, N, S>> target) {
        heap.visit(cursor, target::add);
    }

    KeyGroupView<K, N, S> view() {
        return new KeyGroupView<>(heap.view());
    }
}
