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

import dev.dstl.spillable.overlay.EntryReader;
import dev.dstl.spillable.overlay.ForeignView;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.Presence;
import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.util.Arrays;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Turns one state's entries into bytes and back. Used by one thread; another thread takes a {@link
 * #duplicate()}.
 *
 * <p>Operations act on the entry last selected by {@link #select} or {@link #selectAt}. Keys are
 * equal when their bytes are, as in RocksDB.
 *
 * <p>What layouts write is part of the format of incremental checkpoints, which have it in sealed
 * partitions and among the changes of their directory. Whoever changes it raises the version of the
 * directory and reads the older ones.
 *
 * <pre>
 *   key         namespace | key                as their serializers write them
 *   part's key  namespace | key | int number   big endian; flagged as a part, see {@link
 *                                              dev.dstl.spillable.partition.EntryFormat}
 * </pre>
 */
public abstract class SpilledLayout<K, N, S> {

    /** For {@link #select(Object, Object, long)}: what was selected before is no use. */
    public static final long NO_EPOCH = 0;

    private static final int SCRATCH_BYTES = 64;

    /** Longer buffers are not kept, so that one long value takes no heap for ever. */
    static final int LARGEST_KEPT_BYTES = 1 << 20;

    final TypeSerializer<K> keySerializer;
    final TypeSerializer<N> namespaceSerializer;
    private DataOutputSerializer key = new DataOutputSerializer(SCRATCH_BYTES);
    private int keyLength;
    private int selectedHash;
    @Nullable private KeyHash selectedHashBy;
    private final Presence presence = new Presence();
    private long selectedEpoch;
    private N selectedNamespace;

    DataOutputSerializer valueOut = new DataOutputSerializer(SCRATCH_BYTES);
    final DataInputDeserializer in = new DataInputDeserializer();
    private byte[] copy = new byte[SCRATCH_BYTES];

    SpilledLayout(TypeSerializer<K> keySerializer, TypeSerializer<N> namespaceSerializer) {
        this.keySerializer = keySerializer;
        this.namespaceSerializer = namespaceSerializer;
    }

    /** The same layout with duplicates of the serializers, for another thread. */
    public abstract SpilledLayout<K, N, S> duplicate();

    /**
     * Selects the entry of a key and namespace, whether it exists or not.
     *
     * @throws IOException if a serializer fails
     */
    public final void select(K newKey, N namespace) throws IOException {
        selectedEpoch = NO_EPOCH;
        key = cleared(key);
        serialize(namespaceSerializer, namespace, key);
        serialize(keySerializer, newKey, key);
        keyLength = key.length();
        selected();
    }

    /**
     * Selects the current key's entry, without serializing it again within one selection of the
     * key.
     *
     * @param epoch number of the key's selection, over 0, or {@link #NO_EPOCH} to select in any
     *     case
     * @throws IOException if a serializer fails
     */
    public final void select(K newKey, N namespace, long epoch) throws IOException {
        if (epoch == NO_EPOCH || epoch != selectedEpoch || namespace != selectedNamespace) {
            select(newKey, namespace);
            selectedEpoch = epoch;
            selectedNamespace = namespace;
        }
    }

    /**
     * Selects the entry at an address and goes to it.
     *
     * @param address as {@code entries} gave it, with no change since
     * @throws IOException if the key is too long for an array
     */
    public final void selectAt(EntryReader entries, long address) throws IOException {
        selectedEpoch = NO_EPOCH;
        entries.read(address);
        key = cleared(key);
        key.write(entries.segment(), entries.keyOffset(), entries.keyLength());
        keyLength = key.length();
        selected();
    }

    /**
     * Selects the entry whose key has these bytes.
     *
     * @param keyBytes as {@link EntryReader#copyKey()} gave them
     * @throws IOException if the key is too long for an array
     */
    public final void selectBytes(byte[] keyBytes) throws IOException {
        selectedEpoch = NO_EPOCH;
        key = cleared(key);
        key.write(keyBytes);
        keyLength = keyBytes.length;
        selected();
    }

    /** A copy of the bytes of the selected key, for {@link #selectBytes}. */
    public final byte[] copySelected() {
        return Arrays.copyOf(key.getSharedBuffer(), keyLength);
    }

    private void selected() {
        selectedHashBy = null;
        presence.forget();
    }

    /** Hash of the selected key, as entries of that map are found. */
    private int keyHash(EntryReader entries) {
        if (selectedHashBy != entries.keyHash()) {
            selectedHashBy = entries.keyHash();
            selectedHash = selectedHashBy.of(key.getSharedBuffer(), keyLength);
        }
        return selectedHash;
    }

    /** Receives a key and its namespace. */
    public interface KeyConsumer<K, N> {
        /**
         * @throws IOException passed on to the caller of {@link #readKey}
         */
        void accept(K key, N namespace) throws IOException;
    }

    /**
     * Hands the selected key to {@code consumer}, as new objects.
     *
     * @throws IOException if a serializer or {@code consumer} fails
     */
    public final void readKey(KeyConsumer<K, N> consumer) throws IOException {
        in.setBuffer(key.getSharedBuffer(), 0, keyLength);
        N namespace = deserialize(namespaceSerializer, in);
        consumer.accept(deserialize(keySerializer, in), namespace);
    }

    /** Whether the selected entry is among {@code entries}; goes to it if so. */
    public final boolean exists(EntryReader entries) {
        return find(entries) != 0;
    }

    /**
     * The selected entry's state as a new object, or null if there is none.
     *
     * @throws IOException if the state cannot be deserialized
     */
    public abstract S read(EntryReader entries) throws IOException;

    /**
     * As {@link #read}, on another thread than the task's, which may be changing the map.
     *
     * @throws IOException if the state cannot be deserialized
     * @throws RuntimeException if it has changed meanwhile and may have to be read again
     */
    public final S readForeign(PartitionedMap map) throws IOException {
        try (ForeignView view = map.foreignView()) {
            EntryReader entries = view.entries();
            int hash = keyHash(entries);
            int replacements = view.replacements(hash);
            S state = read(entries);
            view.requireNotReplaced(hash, replacements);
            return state;
        }
    }

    /** Begins to remove or replace the selected entry's state, of several entries of the map. */
    final void beginReplacement(PartitionedMap map) {
        map.beginReplacement(keyHash(map.entries()));
    }

    /**
     * Sets the selected entry's state.
     *
     * @throws IOException if the state cannot be serialized; the entry may be gone then
     */
    public abstract void write(PartitionedMap map, S state) throws IOException;

    /** As {@link #write}, but leaves nothing of a state of which not all can be written. */
    public final void writeWholly(PartitionedMap map, S state) throws IOException {
        boolean written = false;
        try {
            write(map, state);
            written = true;
        } finally {
            if (!written) {
                delete(map);
            }
        }
    }

    /** Removes the selected entry and its parts; false if there is none. */
    public abstract boolean delete(PartitionedMap map);

    /** Starts to copy a state to its spilled form in slices; null if it is small enough for one. */
    @Nullable
    public SlicedWrite<S> slicedWrite(S state) {
        return null;
    }

    /** Starts to copy the selected entry's state in slices; null if it is small enough for one. */
    @Nullable
    public SlicedRead<S> slicedRead(EntryReader entries) {
        return null;
    }

    /** Elements of the selected entry's list or user entries of its map, 0 for other states. */
    public abstract int elements(EntryReader entries);

    /** Number of parts of the selected entry; 0 if there is no entry. */
    abstract int parts(EntryReader entries);

    /**
     * Removes the selected entry and leaves its parts, which nobody finds.
     *
     * @return their number, up to which {@link #deleteParts} is to remove them
     */
    public final int deleteHead(PartitionedMap map) {
        int parts = parts(map.entries());
        beginReplacement(map);
        try {
            remove(map);
        } finally {
            map.endReplacement();
        }
        return parts;
    }

    /**
     * Removes parts that an entry of the selected key has left, but none that it has.
     *
     * @param from the first part to remove
     * @param to behind the last part to remove
     */
    public final void deleteParts(PartitionedMap map, int from, int to) {
        int kept = parts(map.entries());
        for (int i = Math.max(from, kept); i < to; i++) {
            removePart(map, i);
        }
    }

    /**
     * Removes parts of the selected entry behind those that it has: a move that a failure has ended
     * left them in a checkpoint, and nobody remembers them.
     */
    final void removePartsBehind(PartitionedMap map, int parts) {
        int part = parts;
        while (removePart(map, part)) {
            part++;
        }
    }

    /** Writes the selected entry's state as its serializer would. The entry must exist. */
    abstract void copyState(EntryReader entries, DataOutputView out) throws IOException;

    /**
     * Writes namespace, key and state of an entry as their serializers would, and selects it.
     *
     * @param address as {@code entries} gave it, with no change since
     * @throws IOException if {@code out} fails
     */
    public void copyEntry(EntryReader entries, long address, DataOutputView out)
            throws IOException {
        selectAt(entries, address);
        out.write(key.getSharedBuffer(), 0, keyLength);
        copyState(entries, out);
    }

    final long find(EntryReader entries) {
        return entries.find(key.getSharedBuffer(), keyLength, keyHash(entries), false, presence);
    }

    final void put(PartitionedMap map, byte[] value, int valueLength) {
        map.put(
                key.getSharedBuffer(),
                keyLength,
                keyHash(map.entries()),
                false,
                value,
                valueLength,
                presence);
    }

    final boolean remove(PartitionedMap map) {
        int hash = keyHash(map.entries());
        return map.remove(key.getSharedBuffer(), keyLength, hash, false, presence);
    }

    final long findPart(EntryReader entries, int part) {
        byte[] partKey = partKey(part);
        return entries.find(partKey, keyLength + Integer.BYTES, partHash(entries), true);
    }

    /** Fails if parts are not there that the head of the selected entry counts. */
    static void requireParts(boolean areThere, String what) {
        if (!areThere) {
            throw new IllegalStateException(
                    "Spilled state has lost "
                            + what
                            + ". This is a defect, please report it; the state is restored from"
                            + " the last checkpoint.");
        }
    }

    final void putPart(PartitionedMap map, int part, byte[] value, int valueLength) {
        byte[] partKey = partKey(part);
        map.put(
                partKey,
                keyLength + Integer.BYTES,
                partHash(map.entries()),
                true,
                value,
                valueLength);
    }

    final boolean removePart(PartitionedMap map, int part) {
        byte[] partKey = partKey(part);
        return map.remove(partKey, keyLength + Integer.BYTES, partHash(map.entries()), true);
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

    private int partHash(EntryReader entries) {
        return entries.keyHash().of(key.getSharedBuffer(), keyLength + Integer.BYTES);
    }

    /**
     * Counts one more element or user entry, of which heads have a number of four bytes.
     *
     * @param of what has them
     * @throws IllegalStateException if it has as many as can be counted
     */
    static int oneMore(int count, String of) {
        if (count == Integer.MAX_VALUE) {
            throw new IllegalStateException(
                    String.format(
                            "A %s in state has %d entries and can have no more. Split it, for"
                                    + " example over more keys.",
                            of, count));
        }
        return count + 1;
    }

    static <T> void serialize(TypeSerializer<T> serializer, T object, DataOutputSerializer out)
            throws IOException {
        try {
            serializer.serialize(object, out);
        } catch (RuntimeException | StackOverflowError e) {
            throw new SerializerException(serializer, e);
        }
    }

    static <T> T deserialize(TypeSerializer<T> serializer, DataInputDeserializer in)
            throws IOException {
        try {
            return serializer.deserialize(in);
        } catch (RuntimeException | StackOverflowError e) {
            throw new SerializerException(serializer, e);
        }
    }

    /** An empty one: the same, unless it has become so long that it would take heap for ever. */
    static DataOutputSerializer cleared(DataOutputSerializer out) {
        if (out.getSharedBuffer().length > LARGEST_KEPT_BYTES) {
            return new DataOutputSerializer(LARGEST_KEPT_BYTES);
        }
        out.clear();
        return out;
    }

    /** Copies the value read last; valid until the next copy. */
    final byte[] copyValue(EntryReader entries, int from) {
        return copyBytes(entries, entries.valueOffset() + from, entries.valueLength() - from);
    }

    /** Copies bytes of the entry read last; valid until the next copy. */
    final byte[] copyBytes(EntryReader entries, int offset, int length) {
        byte[] target = copy;
        if (length > LARGEST_KEPT_BYTES) {
            target = new byte[length];
        } else if (copy.length < length) {
            target = new byte[Math.max(length, Math.min(LARGEST_KEPT_BYTES, 2 * copy.length))];
            copy = target;
        }
        entries.copy(offset, target, length);
        return target;
    }
}
