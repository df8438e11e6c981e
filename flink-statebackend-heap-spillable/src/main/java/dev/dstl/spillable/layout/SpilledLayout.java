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

package dev.dstl.spillable.layout;

import dev.dstl.spillable.entry.EntryStore;
import dev.dstl.spillable.entry.SpilledMap;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Turns one state's entries into bytes and back. Used by one thread; a thread of its own takes a
 * {@link #duplicate()}.
 *
 * <p>Operations act on the entry last selected by {@link #select} or {@link #selectAt}. Keys are
 * equal when their bytes are, as in RocksDB.
 */
public abstract class SpilledLayout<K, N, S> {

    private static final int SCRATCH_BYTES = 64;

    final TypeSerializer<K> keySerializer;
    final TypeSerializer<N> namespaceSerializer;
    private final DataOutputSerializer key = new DataOutputSerializer(SCRATCH_BYTES);
    private int keyLength;
    private int keyHash;
    private long selectedEpoch;
    private N selectedNamespace;

    final DataOutputSerializer valueOut = new DataOutputSerializer(SCRATCH_BYTES);
    final DataInputDeserializer in = new DataInputDeserializer();
    private byte[] copy = new byte[SCRATCH_BYTES];

    SpilledLayout(TypeSerializer<K> keySerializer, TypeSerializer<N> namespaceSerializer) {
        this.keySerializer = keySerializer;
        this.namespaceSerializer = namespaceSerializer;
    }

    /** The same layout with serializers of its own. */
    public abstract SpilledLayout<K, N, S> duplicate();

    // ------------------------------------------------ selection

    public final void select(K newKey, N namespace) throws IOException {
        selectedEpoch = 0;
        key.clear();
        namespaceSerializer.serialize(namespace, key);
        keySerializer.serialize(newKey, key);
        keyLength = key.length();
        keyHash = EntryStore.hash(key.getSharedBuffer(), keyLength);
    }

    /**
     * Selects the current key's entry, without serializing it again within one selection of the
     * key.
     *
     * @param epoch number of the key's selection, over 0
     */
    public final void select(K newKey, N namespace, long epoch) throws IOException {
        if (epoch != selectedEpoch || namespace != selectedNamespace) {
            select(newKey, namespace);
            selectedEpoch = epoch;
            selectedNamespace = namespace;
        }
    }

    /** Selects the entry at an address. */
    public final void selectAt(EntryStore store, long address) throws IOException {
        selectedEpoch = 0;
        store.read(address);
        key.clear();
        key.write(store.segment(), store.keyOffset(), store.keyLength());
        keyLength = key.length();
        keyHash = EntryStore.hash(key.getSharedBuffer(), keyLength);
    }

    /** Selects the entry whose key has these bytes. */
    public final void selectBytes(byte[] keyBytes) throws IOException {
        selectedEpoch = 0;
        key.clear();
        key.write(keyBytes);
        keyLength = keyBytes.length;
        keyHash = EntryStore.hash(keyBytes, keyLength);
    }

    /** Receives a key and its namespace. */
    public interface KeyConsumer<K, N> {
        void accept(K key, N namespace) throws IOException;
    }

    /** Hands the selected key to {@code consumer}, as objects. */
    public final void readKey(KeyConsumer<K, N> consumer) throws IOException {
        in.setBuffer(key.getSharedBuffer(), 0, keyLength);
        N namespace = namespaceSerializer.deserialize(in);
        consumer.accept(keySerializer.deserialize(in), namespace);
    }

    public final boolean exists(EntryStore store) {
        return find(store) != 0;
    }

    // ------------------------------------------------ whole states

    /** The selected entry's state, or null if there is none. */
    public abstract S read(EntryStore store) throws IOException;

    /** Sets the selected entry's state. */
    public abstract void write(SpilledMap map, S state) throws IOException;

    /** Removes the selected entry and its parts; false if there is none. */
    public abstract boolean delete(SpilledMap map);

    /** Writes the selected entry's state as its serializer would. The entry must exist. */
    abstract void copyState(EntryStore store, DataOutputView out) throws IOException;

    /** Writes namespace, key and state of an entry as their serializers would. */
    public void copyEntry(EntryStore store, long address, DataOutputView out) throws IOException {
        selectAt(store, address);
        out.write(key.getSharedBuffer(), 0, keyLength);
        copyState(store, out);
    }

    // ------------------------------------------------ for the kinds of state

    final long find(EntryStore store) {
        return store.find(key.getSharedBuffer(), keyLength, keyHash, false);
    }

    final void put(SpilledMap map, byte[] value, int valueLength) {
        map.put(key.getSharedBuffer(), keyLength, keyHash, false, value, valueLength);
    }

    final boolean remove(SpilledMap map) {
        return map.remove(key.getSharedBuffer(), keyLength, keyHash, false);
    }

    final long findPart(EntryStore store, int part) {
        return store.find(partKey(part), keyLength + Integer.BYTES, partHash(part), true);
    }

    final void putPart(SpilledMap map, int part, byte[] value, int valueLength) {
        map.put(partKey(part), keyLength + Integer.BYTES, partHash(part), true, value, valueLength);
    }

    final boolean removePart(SpilledMap map, int part) {
        return map.remove(partKey(part), keyLength + Integer.BYTES, partHash(part), true);
    }

    /** The key's buffer with the part's number behind the key. */
    private byte[] partKey(int part) {
        try {
            key.setPosition(keyLength);
            key.writeInt(part);
            return key.getSharedBuffer();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("Writing to memory failed", e);
        }
    }

    private int partHash(int part) {
        int hash = (keyHash ^ (part * 0x9E3779B1)) * 0x85EBCA6B;
        return hash ^ (hash >>> 15);
    }

    /** Copies the value read last; valid until the next copy. */
    final byte[] copyValue(EntryStore store, int from) {
        return copyBytes(store, store.valueOffset() + from, store.valueLength() - from);
    }

    /** Copies bytes of the entry read last; valid until the next copy. */
    final byte[] copyBytes(EntryStore store, int offset, int length) {
        if (copy.length < length) {
            copy = new byte[Math.max(length, (int) Math.min(1 << 30, 2L * copy.length))];
        }
        store.copy(offset, copy, length);
        return copy;
    }
}
