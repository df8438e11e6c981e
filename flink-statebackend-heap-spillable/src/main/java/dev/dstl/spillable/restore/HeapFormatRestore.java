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

import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import dev.dstl.spillable.table.WrittenState;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.StateMigrationException;

/**
 * Reads snapshots in the format of Flink's heap backend, of any number of handles, keeping only the
 * task's key groups. Runs on the task thread; a corrupt or foreign handle fails the restore.
 */
public final class HeapFormatRestore<K> {

    /** The first version of the format that writes entries one by one. */
    private static final int OLDEST_VERSION = 2;

    private final StateRegistry<K> states;
    private final SnapshotKeys<K> keys;
    private final KeyGroupRange keyGroupRange;
    private final ClassLoader userClassLoader;
    private final CloseableRegistry cancelRegistry;
    private final StateMover mover;
    private final ElementRestore<K> elements;

    /**
     * @param states takes what is read; filled in part if a restore fails
     * @param keySerializerProvider checks the key serializers of the handles
     * @param cancelRegistry closes the stream being read if the task is cancelled
     * @param mover asked before each entry whether it fits on the heap, told after each key group
     */
    public HeapFormatRestore(
            StateRegistry<K> states,
            StateSerializerProvider<K> keySerializerProvider,
            KeyGroupRange keyGroupRange,
            ClassLoader userClassLoader,
            CloseableRegistry cancelRegistry,
            StateMover mover) {
        this.states = states;
        this.keys = new SnapshotKeys<>(keySerializerProvider);
        this.keyGroupRange = keyGroupRange;
        this.userClassLoader = userClassLoader;
        this.cancelRegistry = cancelRegistry;
        this.mover = mover;
        this.elements = new ElementRestore<>(mover);
    }

    /**
     * Reads all handles, one after the other; null counts as empty.
     *
     * @throws IllegalStateException if a handle is of another kind
     * @throws Exception if a handle cannot be read, is corrupt, or has an incompatible key
     *     serializer
     */
    public void restore(Collection<KeyedStateHandle> handles) throws Exception {
        for (KeyedStateHandle handle : handles) {
            if (handle != null) {
                if (!(handle instanceof KeyGroupsStateHandle)) {
                    throw new IllegalStateException(
                            String.format(
                                    "The spillable backend cannot read a %s. It restores its own"
                                            + " incremental checkpoints, full checkpoints and native"
                                            + " savepoints of heap backends, and"
                                            + " canonical savepoints of any backend; take a canonical"
                                            + " savepoint to move the job here.",
                                    handle.getClass().getName()));
                }
                KeyGroupsStateHandle keyGroups = (KeyGroupsStateHandle) handle;
                restore(keyGroups, keyGroups.openInputStream(), written -> {});
            }
        }
    }

    /** Is called when the states of a handle are registered and none of its entries is read. */
    public interface RegisteredStates<K> {
        /**
         * @param written what the handle has, by serializers of its own
         * @throws Exception ends the restore
         */
        void registered(SnapshotStates<K> written) throws Exception;
    }

    /**
     * Reads one handle.
     *
     * @param stream of the handle, closed by this object
     * @param then called before its entries are read
     * @throws Exception as the other {@code restore}, and if {@code then} does
     */
    public void restore(
            KeyGroupsStateHandle handle, FSDataInputStream stream, RegisteredStates<K> then)
            throws Exception {
        cancelRegistry.registerCloseable(stream);
        try {
            SnapshotInput input = new SnapshotInput(stream, stream.getPos());
            DataInputViewStreamWrapper in = new DataInputViewStreamWrapper(input);
            KeyedBackendSerializationProxy<K> header =
                    new KeyedBackendSerializationProxy<>(userClassLoader);
            header.read(in);
            if (header.getReadVersion() < OLDEST_VERSION) {
                throw new IOException(
                        String.format(
                                "%s is written in version %d of the heap format, the oldest"
                                        + " readable is %d; restore it with an older Flink and take"
                                        + " a savepoint there.",
                                handle, header.getReadVersion(), OLDEST_VERSION));
            }
            TypeSerializer<K> keySerializer = keys.next(header.getKeySerializerSnapshot());
            SnapshotStates<K> written =
                    new SnapshotStates<>(
                            states,
                            header.getStateMetaInfoSnapshots(),
                            keySerializer,
                            keys.current());
            then.registered(written);
            StreamCompressionDecorator compression =
                    header.isUsingKeyGroupCompression()
                            ? SnappyStreamCompressionDecorator.INSTANCE
                            : UncompressedStreamCompressionDecorator.INSTANCE;
            for (Tuple2<Integer, Long> group : handle.getGroupRangeOffsets()) {
                if (keyGroupRange.contains(group.f0)) {
                    if (!input.seekInBuffer(group.f1)) {
                        stream.seek(group.f1);
                        input.restart(group.f1);
                    }
                    readKeyGroup(handle, group, in, input, compression, written);
                    mover.keyGroupRestored();
                }
            }
        } finally {
            if (cancelRegistry.unregisterCloseable(stream)) {
                IOUtils.closeQuietly(stream);
            }
        }
    }

    private void readKeyGroup(
            KeyGroupsStateHandle handle,
            Tuple2<Integer, Long> group,
            DataInputView in,
            SnapshotInput input,
            StreamCompressionDecorator compression,
            SnapshotStates<K> written)
            throws IOException, StateMigrationException {
        int found = in.readInt();
        if (found != group.f0) {
            throw new IOException(
                    String.format(
                            "%s is corrupt: expected key group %d at offset %d, found %d.",
                            handle, group.f0, group.f1, found));
        }
        if (compression == UncompressedStreamCompressionDecorator.INSTANCE) {
            readStates(handle, group, input, written);
            return;
        }
        try (InputStream decompressed = compression.decorateWithCompression(input)) {
            readStates(handle, group, new SnapshotInput(decompressed, 0), written);
        }
    }

    private void readStates(
            KeyGroupsStateHandle handle,
            Tuple2<Integer, Long> group,
            SnapshotInput input,
            SnapshotStates<K> written)
            throws IOException, StateMigrationException {
        DataInputView in = new DataInputViewStreamWrapper(input);
        for (int i = 0; i < written.count(); i++) {
            int stateId = in.readShort();
            if (stateId < 0 || stateId >= written.count()) {
                throw new IOException(
                        String.format(
                                "%s is corrupt: key group %d at offset %d names state %d, the"
                                        + " header lists %d states.",
                                handle, group.f0, group.f1, stateId, written.count()));
            }
            WrittenState<K, ?, ?> state = written.state(stateId);
            if (state == null) {
                readTimers(written, stateId, in);
            } else {
                readTable(state, group.f0, in, input);
            }
        }
    }

    private void readTimers(SnapshotStates<K> written, int stateId, DataInputView in)
            throws IOException {
        int timers = in.readInt();
        for (int i = 0; i < timers; i++) {
            written.readTimer(stateId, in);
        }
    }

    @SuppressWarnings("unchecked") // the kind of state decides the type of its serializer
    private <N, S> void readTable(
            WrittenState<K, N, S> written, int keyGroup, DataInputView in, SnapshotInput input)
            throws IOException, StateMigrationException {
        int entries = in.readInt();
        if (entries == 0) {
            return;
        }
        StateTable<K, N, S> table = states.tableOf(written);
        TypeSerializer<K> keySerializer = written.keySerializer();
        TypeSerializer<N> namespaceSerializer = written.namespaceSerializer();
        TypeSerializer<S> stateSerializer = written.stateSerializer();
        for (int i = 0; i < entries; i++) {
            long start = input.position();
            N namespace = namespaceSerializer.deserialize(in);
            K key = keySerializer.deserialize(in);
            if (stateSerializer instanceof MapSerializer
                    && written.type() == StateDescriptor.Type.MAP) {
                readMap(
                        (StateTable<K, N, Map<Object, Object>>) table,
                        (MapSerializer<Object, Object>) (TypeSerializer<?>) stateSerializer,
                        key,
                        keyGroup,
                        namespace,
                        in,
                        input,
                        start);
            } else if (stateSerializer instanceof ListSerializer
                    && written.type() == StateDescriptor.Type.LIST) {
                readList(
                        (StateTable<K, N, List<Object>>) table,
                        ((ListSerializer<Object>) (TypeSerializer<?>) stateSerializer)
                                .getElementSerializer(),
                        key,
                        keyGroup,
                        namespace,
                        in,
                        input,
                        start);
            } else {
                S state = stateSerializer.deserialize(in);
                long bytes = input.position() - start;
                elements.entry(table, key, keyGroup, namespace, state, bytes);
            }
        }
    }

    private <N> void readMap(
            StateTable<K, N, Map<Object, Object>> table,
            MapSerializer<Object, Object> serializer,
            K key,
            int keyGroup,
            N namespace,
            DataInputView in,
            SnapshotInput input,
            long start)
            throws IOException {
        int size = in.readInt();
        boolean large = size > ElementRestore.LARGE_SIZE;
        Map<Object, Object> map = large ? null : new HashMap<>(size * 4 / 3 + 1);
        long from = start;
        for (int i = 0; i < size; i++) {
            Object userKey = serializer.getKeySerializer().deserialize(in);
            boolean isNull = in.readBoolean();
            Object userValue = isNull ? null : serializer.getValueSerializer().deserialize(in);
            if (large) {
                long bytes = input.position() - from;
                from = input.position();
                elements.userEntry(table, key, keyGroup, namespace, userKey, userValue, bytes);
            } else {
                map.put(userKey, userValue);
            }
        }
        if (!large) {
            elements.entry(table, key, keyGroup, namespace, map, input.position() - start);
        }
    }

    private <N> void readList(
            StateTable<K, N, List<Object>> table,
            TypeSerializer<Object> elementSerializer,
            K key,
            int keyGroup,
            N namespace,
            DataInputView in,
            SnapshotInput input,
            long start)
            throws IOException {
        int size = in.readInt();
        boolean large = size > ElementRestore.LARGE_SIZE;
        List<Object> list = large ? null : new ArrayList<>(size + 1);
        long from = start;
        for (int i = 0; i < size; i++) {
            Object element = elementSerializer.deserialize(in);
            if (large) {
                long bytes = input.position() - from;
                from = input.position();
                elements.element(table, key, keyGroup, namespace, element, bytes);
            } else {
                list.add(element);
            }
        }
        if (!large) {
            elements.entry(table, key, keyGroup, namespace, list, input.position() - start);
        }
    }
}
