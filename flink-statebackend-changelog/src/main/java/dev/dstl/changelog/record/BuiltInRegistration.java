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

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshotReadersWriters;

/**
 * Reads the registration that Flink's built-in changelog writes before the first change of a state,
 * after the byte that marks it. Used by the task thread.
 *
 * <pre>
 *   meta version (4 bytes) | meta snapshot (Flink's codec) | ttl | default | state id (2) | type (1)
 *   ttl      not with a queue; 1 byte: 0, or 1 followed by a Java-serialized StateTtlConfig
 *   default  not with a queue; 1 byte: 0, or 1 followed by a value of the state's serializer
 * </pre>
 */
public final class BuiltInRegistration {

    /** Length of the last fields, without the first byte of the state id. */
    private static final int ID_AND_TYPE_LENGTH = 3;

    private BuiltInRegistration() {}

    /** Reads the state id only; in {@code [0, 65536)}, or -1 if there is none. */
    public static int stateId(byte[] source, int offset, int length) {
        if (length < ID_AND_TYPE_LENGTH) {
            return -1;
        }
        int at = offset + length - ID_AND_TYPE_LENGTH;
        return (source[at] & 0xFF) << 8 | (source[at + 1] & 0xFF);
    }

    /**
     * Reads a registration.
     *
     * @param keySerializerSnapshot snapshot of the key serializer, which this format does not
     *     contain; only a base does
     * @param userClassLoader loads the job's serializers
     * @throws IOException if the bytes are not a registration, or need a class that the job no
     *     longer has
     */
    public static RestoredRegistration read(
            DataInputDeserializer source,
            TypeSerializerSnapshot<?> keySerializerSnapshot,
            ClassLoader userClassLoader)
            throws IOException {
        StateMetaInfoSnapshot metaInfo =
                StateMetaInfoSnapshotReadersWriters.getReader(source.readInt())
                        .readStateMetaInfoSnapshot(source, userClassLoader);
        try {
            RestoredRegistration registration =
                    metaInfo.getBackendStateType()
                                    == StateMetaInfoSnapshot.BackendStateType.PRIORITY_QUEUE
                            ? RestoredRegistration.ofQueue(metaInfo, keySerializerSnapshot)
                            : keyed(metaInfo, keySerializerSnapshot, source);
            source.skipBytesToRead(ID_AND_TYPE_LENGTH);
            return registration;
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            throw new UnreadableRegistrationException("'" + metaInfo.getName() + "'", e);
        }
    }

    private static RestoredRegistration keyed(
            StateMetaInfoSnapshot metaInfo,
            TypeSerializerSnapshot<?> keySerializerSnapshot,
            DataInputDeserializer source)
            throws IOException, ClassNotFoundException {
        RegisteredKeyValueStateBackendMetaInfo<?, ?> restored =
                new RegisteredKeyValueStateBackendMetaInfo<>(metaInfo);
        StateTtlConfig timeToLive =
                source.readBoolean() ? readTimeToLive(source) : StateTtlConfig.DISABLED;
        Object defaultValue =
                source.readBoolean() ? restored.getStateSerializer().deserialize(source) : null;
        return RestoredRegistration.ofState(
                kindOf(restored.getStateType()),
                metaInfo,
                keySerializerSnapshot,
                restored,
                timeToLive,
                defaultValue);
    }

    private static StateKind kindOf(@Nullable StateDescriptor.Type type) {
        if (type == null) {
            throw new IllegalArgumentException("The registration has no state type");
        }
        return StateKind.of(type);
    }

    /** The length of the object is not stored; Java's deserialization reads no byte too many. */
    private static StateTtlConfig readTimeToLive(DataInputDeserializer source)
            throws IOException, ClassNotFoundException {
        try (ObjectInputStream object = new ObjectInputStream(new Bytes(source))) {
            return (StateTtlConfig) object.readObject();
        }
    }

    /** A stream over the input. */
    private static final class Bytes extends InputStream {

        private final DataInputDeserializer source;

        Bytes(DataInputDeserializer source) {
            this.source = source;
        }

        @Override
        public int read() throws IOException {
            return source.available() == 0 ? -1 : source.readUnsignedByte();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return length == 0 ? 0 : source.read(target, offset, length);
        }
    }
}
