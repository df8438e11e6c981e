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

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.StateSnapshotTransformer;

/** One state in one key group as it was when the view was opened. Read by one thread. */
final class KeyGroupView<K, N, S> {

    private final HeapView<K, N, S> heap;

    KeyGroupView(HeapView<K, N, S> heap) {
        this.heap = heap;
    }

    void write(
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<S> stateSerializer,
            @Nullable StateSnapshotTransformer<S> transformer,
            DataOutputView out)
            throws IOException {
        List<? extends StateEntry<K, N, S>> entries = entries(transformer);
        out.writeInt(entries.size());
        for (StateEntry<K, N, S> entry : entries) {
            namespaceSerializer.serialize(entry.getNamespace(), out);
            keySerializer.serialize(entry.getKey(), out);
            stateSerializer.serialize(entry.getState(), out);
        }
    }

    Iterator<? extends StateEntry<K, N, S>> iterator(
            @Nullable StateSnapshotTransformer<S> transformer) {
        return entries(transformer).iterator();
    }

    private List<? extends StateEntry<K, N, S>> entries(
            @Nullable StateSnapshotTransformer<S> transformer) {
        if (transformer == null) {
            return heap.entries();
        }
        List<StateEntry<K, N, S>> kept = new ArrayList<>(heap.size());
        heap.forEach(
                entry -> {
                    StateEntry<K, N, S> transformed = entry.filterOrTransform(transformer);
                    if (transformed != null) {
                        kept.add(transformed);
                    }
                });
        return kept;
    }

    void close() {
        heap.close();
    }
}
