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
import dev.dstl.spillable.overlay.Addresses;
import dev.dstl.spillable.overlay.SpilledView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.StateSnapshotTransformer;

/** One state in one key group as it was when the view was opened. Read by one thread. */
final class KeyGroupView<K, N, S> {

    private final HeapView<K, N, S> heap;
    @Nullable private final SpilledView spilled;

    KeyGroupView(HeapView<K, N, S> heap, @Nullable SpilledView spilled) {
        this.heap = heap;
        this.spilled = spilled;
    }

    /** Writes the number of entries, then each as namespace, key and state. */
    void write(
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<S> stateSerializer,
            SpilledLayout<K, N, S> layout,
            @Nullable StateSnapshotTransformer<S> transformer,
            EntryOutput out)
            throws IOException {
        List<? extends StateEntry<K, N, S>> onHeap = heapEntries(transformer);
        if (transformer == null) {
            out.writeInt(onHeap.size() + (spilled == null ? 0 : spilled.size()));
            writeEntries(onHeap, keySerializer, namespaceSerializer, stateSerializer, out);
            copySpilled(layout, out);
            return;
        }
        // The number of entries goes first, and a transformer may drop some. Each entry that it
        // changes is read once more: kept until they are written, they could fill the heap.
        Addresses kept = new Addresses();
        BitSet changed = new BitSet();
        forEachSpilled(
                address -> {
                    layout.selectAt(spilled.entries(), address);
                    S state = layout.read(spilled.entries());
                    S transformed = transformer.filterOrTransform(state);
                    if (transformed != null) {
                        changed.set(kept.count(), transformed != state);
                        kept.accept(address);
                    }
                });
        out.writeInt(onHeap.size() + kept.count());
        writeEntries(onHeap, keySerializer, namespaceSerializer, stateSerializer, out);
        for (int i = 0; i < kept.count(); i++) {
            S transformed = changed.get(i) ? transform(kept.get(i), layout, transformer) : null;
            if (transformed == null) {
                layout.copyEntry(spilled.entries(), kept.get(i), out);
            } else {
                layout.readKey(
                        (key, namespace) -> {
                            namespaceSerializer.serialize(namespace, out);
                            keySerializer.serialize(key, out);
                        });
                stateSerializer.serialize(transformed, out);
            }
        }
    }

    /**
     * Selects a spilled entry and transforms its state; null if that has expired since the entry
     * was counted, which then goes out as it is.
     */
    @Nullable
    private S transform(
            long address, SpilledLayout<K, N, S> layout, StateSnapshotTransformer<S> transformer)
            throws IOException {
        layout.selectAt(spilled.entries(), address);
        return transformer.filterOrTransform(layout.read(spilled.entries()));
    }

    /** Writes as {@link #write} does, without what is spilled, which stays readable. */
    void writeHeapEntries(
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<S> stateSerializer,
            @Nullable StateSnapshotTransformer<S> transformer,
            EntryOutput out)
            throws IOException {
        List<? extends StateEntry<K, N, S>> onHeap = heapEntries(transformer);
        out.writeInt(onHeap.size());
        writeEntries(onHeap, keySerializer, namespaceSerializer, stateSerializer, out);
        heap.close();
    }

    /** What is spilled, or null; belongs to this view. */
    @Nullable
    SpilledView spilled() {
        return spilled;
    }

    private void writeEntries(
            List<? extends StateEntry<K, N, S>> entries,
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<S> stateSerializer,
            EntryOutput out)
            throws IOException {
        for (StateEntry<K, N, S> entry : entries) {
            namespaceSerializer.serialize(entry.getNamespace(), out);
            keySerializer.serialize(entry.getKey(), out);
            stateSerializer.serialize(entry.getState(), out);
        }
    }

    private void copySpilled(SpilledLayout<K, N, S> layout, EntryOutput out) throws IOException {
        forEachSpilled(
                address -> {
                    layout.copyEntry(spilled.entries(), address, out);
                });
    }

    private void forEachSpilled(SpilledView.AddressConsumer consumer) throws IOException {
        if (spilled != null) {
            spilled.forEachAsItLies(consumer);
        }
    }

    /** The entries as objects, those spilled read one after the other. */
    Iterator<? extends StateEntry<K, N, S>> iterator(
            SpilledLayout<K, N, S> layout, @Nullable StateSnapshotTransformer<S> transformer) {
        Iterator<? extends StateEntry<K, N, S>> onHeap = heapEntries(transformer).iterator();
        if (spilled == null) {
            return onHeap;
        }
        return new Iterator<StateEntry<K, N, S>>() {
            private final SpilledView.Walk walk = spilled.walk();
            private boolean atEnd;
            private StateEntry<K, N, S> next;

            @Override
            public boolean hasNext() {
                while (next == null) {
                    if (onHeap.hasNext()) {
                        next = onHeap.next();
                    } else if (!atEnd) {
                        next = readSpilled();
                    } else {
                        return false;
                    }
                }
                return true;
            }

            @Override
            public StateEntry<K, N, S> next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                StateEntry<K, N, S> entry = next;
                next = null;
                return entry;
            }

            @Nullable
            private StateEntry<K, N, S> readSpilled() {
                try {
                    long address = walk.next();
                    atEnd = address == 0;
                    if (atEnd) {
                        return null;
                    }
                    layout.selectAt(spilled.entries(), address);
                    S state = layout.read(spilled.entries());
                    List<StateEntry<K, N, S>> entry = new ArrayList<>(1);
                    layout.readKey(
                            (key, namespace) ->
                                    entry.add(
                                            new StateEntry.SimpleStateEntry<>(
                                                    key, namespace, state)));
                    return transformer == null
                            ? entry.get(0)
                            : entry.get(0).filterOrTransform(transformer);
                } catch (IOException e) {
                    throw SerializerException.unchecked("Cannot read a spilled entry", e);
                }
            }
        };
    }

    private List<? extends StateEntry<K, N, S>> heapEntries(
            @Nullable StateSnapshotTransformer<S> transformer) {
        if (heap.size() == 0) {
            return Collections.emptyList();
        }
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
        return Collections.unmodifiableList(kept);
    }

    void close() {
        heap.close();
        if (spilled != null) {
            spilled.close();
        }
    }
}
