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

package dev.dstl.changelog.record;

import dev.dstl.changelog.schema.EncounteredSubclasses;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshotReadersWriters;
import org.apache.flink.util.InstantiationUtil;

/**
 * The payload of a META record: everything that replay needs to read the records of a state.
 *
 * <pre>
 *   +---------+--------+-------+----------------+-----------------+-----------------+-----+---------+
 *   | version | kind   | name  | key serializer | meta version    | meta snapshot   | ttl | default |
 *   | 1 byte  | 1 byte | UTF-8 | snapshot       | 4 bytes         | (Flink's codec) |     |         |
 *   +---------+--------+-------+----------------+-----------------+-----------------+-----+---------+
 *   ttl       1 byte: 0, or 1 followed by a length (4 bytes) and a Java-serialized StateTtlConfig
 *   default   1 byte: 0, or 1 followed by a value, written by the state's serializer
 * </pre>
 *
 * <p>The name stands in front of the snapshots, which hold it again, so that an error that they
 * cause can name the state. Belongs to the task thread, as the serializers do.
 */
public final class StateRegistration {

    private static final byte VERSION = 1;

    private final StateKind kind;
    private final String name;
    private final TypeSerializer<?> keySerializer;
    private final StateMetaInfoSnapshotSource metaInfo;
    private final TypeSerializer<?> valueSerializer;
    private final EncounteredSubclasses subclasses;
    private final StateTtlConfig timeToLive;
    @Nullable private final Object defaultValue;

    private StateRegistration(
            StateKind kind,
            String name,
            TypeSerializer<?> keySerializer,
            StateMetaInfoSnapshotSource metaInfo,
            TypeSerializer<?> valueSerializer,
            StateTtlConfig timeToLive,
            @Nullable Object defaultValue) {
        this.kind = kind;
        this.name = name;
        this.keySerializer = keySerializer;
        this.metaInfo = metaInfo;
        this.valueSerializer = valueSerializer;
        this.subclasses = new EncounteredSubclasses(valueSerializer);
        this.timeToLive = timeToLive;
        this.defaultValue = defaultValue;
    }

    /**
     * Returns the current snapshot, since serializers change while a job runs (registered
     * subclasses).
     */
    private interface StateMetaInfoSnapshotSource {
        StateMetaInfoSnapshot snapshot();
    }

    /**
     * Creates the registration of a keyed state.
     *
     * @param serializers write the records; they may differ from those of the descriptor
     */
    public static <K, N, V> StateRegistration ofState(
            StateDescriptor<?, V> descriptor, RecordSerializers<K, N, V> serializers) {
        RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo =
                new RegisteredKeyValueStateBackendMetaInfo<>(
                        descriptor.getType(),
                        descriptor.getName(),
                        serializers.namespaces(),
                        serializers.values());
        return new StateRegistration(
                StateKind.of(descriptor.getType()),
                descriptor.getName(),
                serializers.keys(),
                metaInfo::snapshot,
                serializers.values(),
                descriptor.getTtlConfig(),
                descriptor.getDefaultValue());
    }

    /** Creates the registration of a timer queue. */
    public static <T> StateRegistration ofQueue(
            String name, TypeSerializer<?> keySerializer, TypeSerializer<T> elementSerializer) {
        RegisteredPriorityQueueStateBackendMetaInfo<T> metaInfo =
                new RegisteredPriorityQueueStateBackendMetaInfo<>(name, elementSerializer);
        return new StateRegistration(
                StateKind.QUEUE,
                name,
                keySerializer,
                metaInfo::snapshot,
                elementSerializer,
                StateTtlConfig.DISABLED,
                null);
    }

    /** Returns whether the payload of a META record registers timers. */
    public static boolean isOfTimers(byte[] payload) {
        return payload.length > 1 && payload[1] == StateKind.QUEUE.code();
    }

    /** Returns the name of the state. */
    String name() {
        return name;
    }

    /** Returns the kind of the state. */
    StateKind kind() {
        return kind;
    }

    /**
     * Returns whether values were written since the last {@link #toBytes} that its result does not
     * suffice to read, once the classes of the job have changed.
     */
    boolean isOutdated() {
        return subclasses.areMore();
    }

    /**
     * Returns the payload of the META record as of now.
     *
     * @throws IOException if the snapshot of a serializer cannot be written
     */
    byte[] toBytes() throws IOException {
        subclasses.update();
        DataOutputSerializer target = new DataOutputSerializer(256);
        target.writeByte(VERSION);
        target.writeByte(kind.code());
        target.writeUTF(name);
        TypeSerializerSnapshot.writeVersionedSnapshot(
                target, keySerializer.snapshotConfiguration());
        target.writeInt(
                StateMetaInfoSnapshotReadersWriters.CURRENT_STATE_META_INFO_SNAPSHOT_VERSION);
        StateMetaInfoSnapshotReadersWriters.getWriter()
                .writeStateMetaInfoSnapshot(metaInfo.snapshot(), target);
        target.writeBoolean(timeToLive.isEnabled());
        if (timeToLive.isEnabled()) {
            byte[] config = InstantiationUtil.serializeObject(timeToLive);
            target.writeInt(config.length);
            target.write(config);
        }
        target.writeBoolean(defaultValue != null);
        if (defaultValue != null) {
            writeDefaultValue(valueSerializer, target);
        }
        return target.getCopyOfBuffer();
    }

    @SuppressWarnings("unchecked") // the descriptor pairs its default value with its serializer
    private <T> void writeDefaultValue(TypeSerializer<T> serializer, DataOutputView target)
            throws IOException {
        serializer.serialize((T) defaultValue, target);
    }

    /**
     * Reads the payload of a META record.
     *
     * @param userClassLoader loads the job's serializers
     * @throws IOException if the bytes are not a registration of this version, or need a class that
     *     the job no longer has; the message names the state if its name could be read
     */
    public static RestoredRegistration read(DataInputView source, ClassLoader userClassLoader)
            throws IOException {
        RegisteredName registered = readName(source);
        try {
            return readRest(registered.kind(), source, userClassLoader);
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            throw new UnreadableRegistrationException(
                    String.format("'%s' (%s)", registered.name(), registered.kind()), e);
        }
    }

    /**
     * Reads the part of a META record that needs no class of the job.
     *
     * @throws IOException if the bytes are not a registration of this version
     */
    public static RegisteredName readName(DataInputView source) throws IOException {
        byte version = source.readByte();
        if (version != VERSION) {
            throw new UnreadableRegistrationException(VERSION, version);
        }
        try {
            StateKind kind = StateKind.of(source.readByte());
            return new RegisteredName(kind, source.readUTF());
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static RestoredRegistration readRest(
            StateKind kind, DataInputView source, ClassLoader userClassLoader)
            throws IOException, ClassNotFoundException {
        TypeSerializerSnapshot<?> keySnapshot =
                TypeSerializerSnapshot.readVersionedSnapshot(source, userClassLoader);
        StateMetaInfoSnapshot metaInfo =
                StateMetaInfoSnapshotReadersWriters.getReader(source.readInt())
                        .readStateMetaInfoSnapshot(source, userClassLoader);
        StateTtlConfig timeToLive = StateTtlConfig.DISABLED;
        if (source.readBoolean()) {
            byte[] config = new byte[source.readInt()];
            source.readFully(config);
            timeToLive = InstantiationUtil.deserializeObject(config, userClassLoader);
        }
        if (kind == StateKind.QUEUE) {
            source.readBoolean();
            return RestoredRegistration.ofQueue(metaInfo, keySnapshot);
        }
        RegisteredKeyValueStateBackendMetaInfo<?, ?> restored =
                new RegisteredKeyValueStateBackendMetaInfo<>(metaInfo);
        Object defaultValue =
                source.readBoolean() ? restored.getStateSerializer().deserialize(source) : null;
        return RestoredRegistration.ofState(
                kind, metaInfo, keySnapshot, restored, timeToLive, defaultValue);
    }
}
