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
import dev.dstl.spillable.overlay.SpilledView;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * One state as it was when the view was opened. Opened on the task thread, then read by one other
 * thread, which owns it; a key group that was written is released at once, {@link #close()}
 * releases the rest and may be called again.
 */
public final class TableView<K, N, S> {

    private final StateMetaInfoSnapshot metaInfoSnapshot;
    private final StateDescriptor.Type stateType;
    private final TypeSerializer<K> keySerializer;
    private final TypeSerializer<N> namespaceSerializer;
    private final TypeSerializer<S> stateSerializer;
    private final SpilledLayout<K, N, S> layout;
    @Nullable private final StateSnapshotTransformer<S> transformer;
    private final int firstKeyGroup;
    private final List<KeyGroupView<K, N, S>> groups;

    TableView(
            RegisteredKeyValueStateBackendMetaInfo<N, S> metaInfo,
            TypeSerializer<K> keySerializer,
            SpilledLayout<K, N, S> layout,
            int firstKeyGroup,
            List<KeyGroupView<K, N, S>> groups) {
        this.metaInfoSnapshot = metaInfo.snapshot();
        this.stateType = metaInfo.getStateType();
        this.keySerializer = keySerializer.duplicate();
        this.namespaceSerializer = metaInfo.getNamespaceSerializer().duplicate();
        this.stateSerializer = metaInfo.getStateSerializer().duplicate();
        this.layout = layout.duplicate();
        this.transformer =
                metaInfo.getStateSnapshotTransformFactory()
                        .createForDeserializedState()
                        .orElse(null);
        this.firstKeyGroup = firstKeyGroup;
        this.groups = groups;
    }

    /** How the state was registered, as the header of a snapshot has it. */
    public StateMetaInfoSnapshot metaInfoSnapshot() {
        return metaInfoSnapshot;
    }

    /** Name of the state. */
    public String name() {
        return metaInfoSnapshot.getName();
    }

    /** Kind of the state. */
    public StateDescriptor.Type stateType() {
        return stateType;
    }

    /**
     * Serializer of namespaces as it was when the view was opened, whatever the state was
     * registered with since. For the thread that reads this view.
     */
    public TypeSerializer<N> namespaceSerializer() {
        return namespaceSerializer;
    }

    /**
     * Serializer of states as it was when the view was opened, whatever the state was registered
     * with since. For the thread that reads this view.
     */
    public TypeSerializer<S> stateSerializer() {
        return stateSerializer;
    }

    /**
     * Writes the entries of one key group in Flink's heap format and releases them.
     *
     * @param keyGroup one of the task's, not written before
     * @throws IOException if {@code out} fails or a state cannot be serialized
     */
    public void writeKeyGroup(int keyGroup, DataOutputView out) throws IOException {
        KeyGroupView<K, N, S> group = groups.get(keyGroup - firstKeyGroup);
        EntryOutput entries = new EntryOutput(out);
        group.write(
                keySerializer, namespaceSerializer, stateSerializer, layout, transformer, entries);
        entries.flush();
        group.close();
    }

    /**
     * Writes the entries of one key group that are on the heap in Flink's heap format and releases
     * them; what is spilled stays readable.
     *
     * @param keyGroup one of the task's, not written before
     * @throws IOException if {@code out} fails or a state cannot be serialized
     */
    public void writeHeapEntries(int keyGroup, DataOutputView out) throws IOException {
        KeyGroupView<K, N, S> group = groups.get(keyGroup - firstKeyGroup);
        EntryOutput entries = new EntryOutput(out);
        group.writeHeapEntries(
                keySerializer, namespaceSerializer, stateSerializer, transformer, entries);
        entries.flush();
    }

    /**
     * What is spilled of one key group, or null if nothing is; closed with this view.
     *
     * @param keyGroup one of the task's
     */
    @Nullable
    public SpilledView spilled(int keyGroup) {
        return groups.get(keyGroup - firstKeyGroup).spilled();
    }

    /**
     * The entries of one key group as objects, those that the state's snapshot transformer keeps.
     * Throws {@link java.io.UncheckedIOException} where a spilled entry cannot be read.
     *
     * @param keyGroup one of the task's
     */
    public Iterator<? extends StateEntry<K, N, S>> entries(int keyGroup) {
        return groups.get(keyGroup - firstKeyGroup).iterator(layout, transformer);
    }

    /** Gives back what only this view still needs. May be called again, on any thread. */
    public void close() {
        groups.forEach(KeyGroupView::close);
    }
}
