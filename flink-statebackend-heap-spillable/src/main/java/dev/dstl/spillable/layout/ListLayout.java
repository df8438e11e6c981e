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
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.partition.EntryFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.RandomAccess;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.core.memory.MemorySegment;

/**
 * A list as a head with its first elements and fragments with the rest. Adding an element touches
 * the head and the last fragment, whatever the length of the list.
 *
 * <pre>
 *   head       byte elements | elements ...       no fragments, fewer than 255 elements
 *              byte 255 | int elements | int fragments | int used | elements ... room
 *   fragment                                             int used | elements ... room
 * </pre>
 *
 * Elements are as their serializer writes them, one after the other, over head and fragments in
 * order. An element lies in one piece. A format: see {@link SpilledLayout}.
 */
public final class ListLayout<K, N, V> extends SpilledLayout<K, N, List<V>> {

    /** In the place of a fragment's number: the elements in the head. */
    static final int HEAD = -1;

    private static final int LONG_HEAD = 255;
    private static final int ELEMENTS_AT = 1;
    private static final int FRAGMENTS_AT = 5;
    private static final int HEAD_USED_AT = 9;
    private static final int LONG_HEAD_BYTES = 13;
    private static final int SHORT_HEAD_BYTES = 1;
    private static final int FRAGMENT_BYTES = 4;

    private static final int HEAD_ROOM = 256;
    private static final int LARGEST_ROOM = 16 * 1024;

    /** A fragment that cannot change in place is copied up to this length. */
    private static final int COLD_ROOM = 512;

    /** Lists with more elements are moved in slices. */
    static final int LARGE_ELEMENTS = 64;

    private static final byte[] ZEROS = new byte[1024];

    private final ListSerializer<V> listSerializer;
    private final TypeSerializer<V> elementSerializer;
    private DataOutputSerializer elementOut = new DataOutputSerializer(64);
    private DataOutputSerializer gathered = new DataOutputSerializer(64);

    /** What the head read last says, and how long it is before its elements. */
    private int elements;

    private int fragments;
    private int used;
    private int headBytes;

    /**
     * @param listSerializer of the whole state; it and the other serializers are used by this
     *     layout's thread only
     */
    public ListLayout(
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer,
            ListSerializer<V> listSerializer) {
        super(keySerializer, namespaceSerializer);
        this.listSerializer = listSerializer;
        this.elementSerializer = listSerializer.getElementSerializer();
    }

    @Override
    public ListLayout<K, N, V> duplicate() {
        return new ListLayout<>(
                keySerializer.duplicate(),
                namespaceSerializer.duplicate(),
                (ListSerializer<V>) listSerializer.duplicate());
    }

    @Override
    public List<V> read(EntryReader entries) throws IOException {
        if (find(entries) == 0) {
            return null;
        }
        gather(entries);
        in.setBuffer(gathered.getSharedBuffer(), 0, gathered.length());
        List<V> list = new ArrayList<>(elements);
        for (int i = 0; i < elements; i++) {
            list.add(deserialize(elementSerializer, in));
        }
        gathered = cleared(gathered);
        in.releaseArrays();
        return list;
    }

    @Override
    void copyState(EntryReader entries, DataOutputView out) throws IOException {
        find(entries);
        readHead(entries);
        out.writeInt(elements);
        out.write(copyBytes(entries, entries.valueOffset() + headBytes, used), 0, used);
        for (int i = 0; i < fragments; i++) {
            requireFragment(entries, i);
            int bytes = entries.segment().getIntLittleEndian(entries.valueOffset());
            out.write(copyBytes(entries, entries.valueOffset() + FRAGMENT_BYTES, bytes), 0, bytes);
        }
    }

    private void readHead(EntryReader entries) {
        MemorySegment segment = entries.segment();
        int value = entries.valueOffset();
        elements = segment.get(value) & 0xFF;
        if (elements == LONG_HEAD) {
            elements = segment.getIntLittleEndian(value + ELEMENTS_AT);
            fragments = segment.getIntLittleEndian(value + FRAGMENTS_AT);
            used = segment.getIntLittleEndian(value + HEAD_USED_AT);
            headBytes = LONG_HEAD_BYTES;
        } else {
            fragments = 0;
            used = entries.valueLength() - SHORT_HEAD_BYTES;
            headBytes = SHORT_HEAD_BYTES;
        }
    }

    /** Collects the bytes of all elements of the list whose head the reader is at. */
    private void gather(EntryReader entries) throws IOException {
        readHead(entries);
        gathered.clear();
        gathered.write(entries.segment(), entries.valueOffset() + headBytes, used);
        for (int i = 0; i < fragments; i++) {
            requireFragment(entries, i);
            gathered.write(
                    entries.segment(),
                    entries.valueOffset() + FRAGMENT_BYTES,
                    entries.segment().getIntLittleEndian(entries.valueOffset()));
        }
    }

    /** Without the check, what was read last would be taken for the fragment. */
    private long requireFragment(EntryReader entries, int fragment) {
        long address = findPart(entries, fragment);
        requireParts(address != 0, "a fragment of a list");
        return address;
    }

    @Override
    public void write(PartitionedMap map, List<V> list) throws IOException {
        elementOut = cleared(elementOut);
        List<Integer> fragmentEnds = new ArrayList<>(2);
        int start = 0;
        for (V element : list) {
            serialize(elementSerializer, element, elementOut);
            if (elementOut.length() - start >= LARGEST_ROOM) {
                start = elementOut.length();
                fragmentEnds.add(start);
            }
        }
        if (elementOut.length() > start) {
            fragmentEnds.add(elementOut.length());
        }
        beginReplacement(map);
        try {
            delete(map);
            writeElements(map, list.size(), fragmentEnds);
        } finally {
            map.endReplacement();
            elementOut = cleared(elementOut);
        }
    }

    private void writeElements(PartitionedMap map, int count, List<Integer> fragmentEnds)
            throws IOException {
        int bytes = elementOut.length();
        if (bytes <= HEAD_ROOM) {
            putHead(map, count, 0, bytes);
            return;
        }
        int start = 0;
        for (int i = 0; i < fragmentEnds.size(); i++) {
            int part = fragmentEnds.get(i) - start;
            putFragment(map, i, start, part, part);
            start = fragmentEnds.get(i);
        }
        putHead(map, count, fragmentEnds.size(), 0);
    }

    @Override
    @Nullable
    public SlicedWrite<List<V>> slicedWrite(List<V> state) {
        return state.size() > LARGE_ELEMENTS && state instanceof RandomAccess
                ? new ListWrite<>(this)
                : null;
    }

    @Override
    @Nullable
    public SlicedRead<List<V>> slicedRead(EntryReader entries) {
        return elements(entries) > LARGE_ELEMENTS ? new ListRead<>(this) : null;
    }

    @Override
    public int elements(EntryReader entries) {
        if (find(entries) == 0) {
            return 0;
        }
        readHead(entries);
        return elements;
    }

    @Override
    int parts(EntryReader entries) {
        if (find(entries) == 0) {
            return 0;
        }
        readHead(entries);
        return fragments;
    }

    /**
     * Writes some elements as a fragment of a list that has no head, up to {@code mostBytes}.
     *
     * @return the first element that is not written
     */
    int copyFragment(PartitionedMap map, int number, List<V> list, int from, int mostBytes)
            throws IOException {
        elementOut = cleared(elementOut);
        int element = from;
        while (element < list.size() && elementOut.length() < mostBytes) {
            serialize(elementSerializer, list.get(element++), elementOut);
        }
        map.begin();
        try {
            putFragment(map, number, 0, elementOut.length(), elementOut.length());
        } finally {
            map.end();
        }
        return element;
    }

    /** Gives a list its head, so that it exists. */
    void finishCopied(PartitionedMap map, int itsElements, int itsFragments) throws IOException {
        removePartsBehind(map, itsFragments);
        putHead(map, itsElements, itsFragments, 0);
    }

    /**
     * Reads elements of the selected list.
     *
     * @param fragment number, or {@link #HEAD}
     */
    void readFragment(EntryReader entries, int fragment, List<V> target) throws IOException {
        int start = FRAGMENT_BYTES;
        int bytes;
        if (fragment == HEAD) {
            find(entries);
            readHead(entries);
            start = headBytes;
            bytes = used;
        } else {
            requireFragment(entries, fragment);
            bytes = entries.segment().getIntLittleEndian(entries.valueOffset());
        }
        in.setBuffer(copyValue(entries, start), 0, bytes);
        while (in.available() > 0) {
            target.add(deserialize(elementSerializer, in));
        }
    }

    /**
     * Adds one element to the selected list, or starts one. Costs the same however long the list
     * is.
     *
     * @throws IOException if the element cannot be serialized
     */
    public void add(PartitionedMap map, V element) throws IOException {
        elementOut = cleared(elementOut);
        serialize(elementSerializer, element, elementOut);
        map.begin();
        try {
            addElement(map);
        } finally {
            map.end();
        }
    }

    /**
     * Adds elements to the selected list, or starts one, if all of them can be serialized.
     *
     * @throws IOException if one of them cannot be serialized; none has been added then
     */
    public void addAll(PartitionedMap map, List<V> added) throws IOException {
        gathered.clear();
        int[] ends = new int[added.size()];
        int count = 0;
        for (V element : added) {
            serialize(elementSerializer, element, gathered);
            ends[count++] = gathered.length();
        }
        map.begin();
        try {
            int start = 0;
            for (int end : ends) {
                elementOut = cleared(elementOut);
                elementOut.write(gathered.getSharedBuffer(), start, end - start);
                addElement(map);
                start = end;
            }
        } finally {
            map.end();
            gathered = cleared(gathered);
        }
    }

    private void addElement(PartitionedMap map) throws IOException {
        EntryReader entries = map.entries();
        int bytes = elementOut.length();
        long head = find(entries);
        if (head == 0) {
            if (bytes <= HEAD_ROOM) {
                putHead(map, 1, 0, bytes);
            } else {
                putFragment(map, 0, 0, bytes, bytes);
                putHead(map, 1, 1, 0);
            }
            return;
        }
        readHead(entries);
        int count = oneMore(elements, "list");
        if (fragments == 0 && used + bytes <= HEAD_ROOM) {
            addToHead(map, head, count, bytes);
            return;
        }
        int last = fragments - 1;
        if (last < 0 || !addToFragment(map, last, bytes)) {
            last++;
            putFragment(map, last, 0, bytes, bytes);
        }
        setHead(map, count, last + 1);
    }

    /** Adds to the head read last, in place if there is room behind it. */
    private void addToHead(PartitionedMap map, long head, int size, int bytes) throws IOException {
        EntryReader entries = map.entries();
        int missing = used + bytes - (entries.valueLength() - headBytes);
        boolean isLong = headBytes == LONG_HEAD_BYTES;
        if ((isLong || size < LONG_HEAD)
                && (missing <= 0 ? map.isMutable(head) : map.extend(head, missing))) {
            MemorySegment segment = entries.segment();
            int value = entries.valueOffset();
            map.beginInPlace();
            EntryFormat.copyIn(
                    elementOut.getSharedBuffer(), segment, value + headBytes + used, bytes);
            if (isLong) {
                segment.putIntLittleEndian(value + ELEMENTS_AT, size);
                segment.putIntLittleEndian(value + HEAD_USED_AT, used + bytes);
            } else {
                segment.put(value, (byte) size);
            }
            map.endInPlace();
            return;
        }
        byte[] old = copyBytes(entries, entries.valueOffset() + headBytes, used);
        startHead(size, 0, used + bytes);
        valueOut.write(old, 0, used);
        valueOut.write(elementOut.getSharedBuffer(), 0, bytes);
        put(map, valueOut.getSharedBuffer(), valueOut.length());
    }

    /**
     * Adds to the last fragment: in place if it has room and may change, else by writing it anew if
     * it is small or can get larger. So a fragment is as long as what came since the one before
     * could no longer change, and no cold list has more than a few short ones.
     */
    private boolean addToFragment(PartitionedMap map, int fragment, int bytes) throws IOException {
        EntryReader entries = map.entries();
        long address = requireFragment(entries, fragment);
        int value = entries.valueOffset();
        int filled = entries.segment().getIntLittleEndian(value);
        int room = entries.valueLength() - FRAGMENT_BYTES;
        boolean mutable = map.isMutable(address);
        int needed = filled + bytes;
        if (mutable && needed <= room) {
            map.beginInPlace();
            entries.segment()
                    .put(value + FRAGMENT_BYTES + filled, elementOut.getSharedBuffer(), 0, bytes);
            entries.segment().putIntLittleEndian(value, needed);
            map.endInPlace();
            return true;
        }
        if (needed > (mutable ? LARGEST_ROOM : COLD_ROOM)) {
            return false;
        }
        byte[] old = copyValue(entries, FRAGMENT_BYTES);
        valueOut = cleared(valueOut);
        writeLittleEndian(needed);
        valueOut.write(old, 0, filled);
        valueOut.write(elementOut.getSharedBuffer(), 0, bytes);
        int newRoom = mutable ? Math.min(LARGEST_ROOM, needed * 2) : needed;
        pad(FRAGMENT_BYTES + newRoom);
        putPart(map, fragment, valueOut.getSharedBuffer(), FRAGMENT_BYTES + newRoom);
        return true;
    }

    /** Changes the numbers in the head of a list with fragments, in place if that is allowed. */
    private void setHead(PartitionedMap map, int newElements, int newFragments) throws IOException {
        EntryReader entries = map.entries();
        long head = find(entries);
        readHead(entries);
        if (headBytes == LONG_HEAD_BYTES && map.isMutable(head)) {
            long both = Integer.toUnsignedLong(newElements) | ((long) newFragments << Integer.SIZE);
            map.beginInPlace();
            entries.segment().putLongLittleEndian(entries.valueOffset() + ELEMENTS_AT, both);
            map.endInPlace();
            return;
        }
        byte[] old = copyBytes(entries, entries.valueOffset() + headBytes, used);
        startHead(newElements, newFragments, used);
        valueOut.write(old, 0, used);
        put(map, valueOut.getSharedBuffer(), valueOut.length());
    }

    private void putHead(PartitionedMap map, int itsElements, int itsFragments, int bytes)
            throws IOException {
        startHead(itsElements, itsFragments, bytes);
        valueOut.write(elementOut.getSharedBuffer(), 0, bytes);
        put(map, valueOut.getSharedBuffer(), valueOut.length());
    }

    private void startHead(int itsElements, int itsFragments, int bytes) throws IOException {
        valueOut = cleared(valueOut);
        if (itsFragments == 0 && itsElements < LONG_HEAD) {
            valueOut.writeByte(itsElements);
            return;
        }
        valueOut.writeByte(LONG_HEAD);
        writeLittleEndian(itsElements);
        writeLittleEndian(itsFragments);
        writeLittleEndian(bytes);
    }

    private void putFragment(PartitionedMap map, int number, int from, int bytes, int room)
            throws IOException {
        valueOut = cleared(valueOut);
        writeLittleEndian(bytes);
        valueOut.write(elementOut.getSharedBuffer(), from, bytes);
        pad(FRAGMENT_BYTES + room);
        putPart(map, number, valueOut.getSharedBuffer(), FRAGMENT_BYTES + room);
    }

    private void pad(int length) throws IOException {
        while (valueOut.length() < length) {
            valueOut.write(ZEROS, 0, Math.min(ZEROS.length, length - valueOut.length()));
        }
    }

    private void writeLittleEndian(int value) throws IOException {
        valueOut.writeInt(Integer.reverseBytes(value));
    }

    @Override
    public boolean delete(PartitionedMap map) {
        EntryReader entries = map.entries();
        if (find(entries) == 0) {
            return false;
        }
        readHead(entries);
        beginReplacement(map);
        try {
            for (int i = 0; i < fragments; i++) {
                removePart(map, i);
            }
            return remove(map);
        } finally {
            map.endReplacement();
        }
    }
}
