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
import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.core.memory.MemorySegment;

/**
 * A map as a head and buckets of user entries. A small map lies in its head; a larger one is spread
 * over buckets by linear hashing, one more bucket at a time, so that no operation on a user key
 * costs more than one small bucket, whatever the size of the map.
 *
 * <pre>
 *   head      see {@link MapHead} | user entries, if buckets = 1
 *   bucket    user entries                                 (no bucket: none)
 *   user entry     varint key length | varint value length | key | boolean isNull | value
 * </pre>
 *
 * User keys are equal when their bytes are, as in RocksDB. A format: see {@link SpilledLayout}.
 */
public final class MapLayout<K, N, UK, UV> extends SpilledLayout<K, N, Map<UK, UV>> {

    private static final int BUCKET_ENTRIES = 8;

    /** Maps with more user entries are moved in slices. */
    public static final int LARGE_ENTRIES = 64;

    private final MapSerializer<UK, UV> mapSerializer;
    private final TypeSerializer<UK> userKeySerializer;
    private final TypeSerializer<UV> userValueSerializer;
    private DataOutputSerializer userKeyOut = new DataOutputSerializer(64);
    private DataOutputSerializer userValueOut = new DataOutputSerializer(64);
    private final UserEntries bucket = new UserEntries();
    private final UserEntries splitZero = new UserEntries();
    private final UserEntries splitOne = new UserEntries();

    private int userEntries;
    private int buckets;

    /** Whether the map being changed gets its head later. */
    private boolean headless;

    /**
     * @param mapSerializer of the whole state; it and the other serializers are used by this
     *     layout's thread only
     */
    public MapLayout(
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer,
            MapSerializer<UK, UV> mapSerializer) {
        super(keySerializer, namespaceSerializer);
        this.mapSerializer = mapSerializer;
        this.userKeySerializer = mapSerializer.getKeySerializer();
        this.userValueSerializer = mapSerializer.getValueSerializer();
    }

    @Override
    public MapLayout<K, N, UK, UV> duplicate() {
        return new MapLayout<>(
                keySerializer.duplicate(),
                namespaceSerializer.duplicate(),
                (MapSerializer<UK, UV>) mapSerializer.duplicate());
    }

    /**
     * Whether the selected map has the user key.
     *
     * @throws IOException if the user key cannot be serialized
     */
    public boolean contains(EntryReader entries, UK userKey) throws IOException {
        return findUserEntry(entries, userKey);
    }

    /** Whether the selected map has no user entries or does not exist. */
    public boolean isEmpty(EntryReader entries) {
        readHead(entries);
        return userEntries == 0;
    }

    /**
     * The value of a user key in the selected map; null if it is null or if there is none.
     *
     * @throws IOException if the user key cannot be serialized or the value cannot be read
     */
    @Nullable
    public UV get(EntryReader entries, UK userKey) throws IOException {
        return findUserEntry(entries, userKey) ? userValue() : null;
    }

    private UV userValue() throws IOException {
        in.setBuffer(bucket.bytes(), bucket.valueOffset(), bucket.valueLength());
        UV userValue = in.readBoolean() ? null : deserialize(userValueSerializer, in);
        in.releaseArrays();
        return userValue;
    }

    private UK userKey() throws IOException {
        in.setBuffer(bucket.bytes(), bucket.keyOffset(), bucket.keyLength());
        UK userKey = deserialize(userKeySerializer, in);
        in.releaseArrays();
        return userKey;
    }

    /**
     * Sets a user entry of the selected map, or starts a map with it.
     *
     * @throws IOException if the user entry cannot be serialized
     */
    public void put(PartitionedMap map, UK userKey, @Nullable UV userValue) throws IOException {
        put(map, findUserEntry(map.entries(), userKey), userValue);
    }

    private void put(PartitionedMap map, boolean found, @Nullable UV userValue) throws IOException {
        userValueOut = cleared(userValueOut);
        userValueOut.writeBoolean(userValue == null);
        if (userValue != null) {
            serialize(userValueSerializer, userValue, userValueOut);
        }
        if (found && bucket.overwriteValue(map, userValueOut)) {
            return;
        }
        map.begin();
        try {
            putUserEntry(map, found);
        } finally {
            map.end();
        }
    }

    private void putUserEntry(PartitionedMap map, boolean found) throws IOException {
        if (buckets == 0) {
            buckets = 1;
            bucket.clear();
        }
        if (found) {
            bucket.replaceValue(userValueOut);
        } else {
            userEntries = oneMore(userEntries, "map");
            bucket.append(userKeyOut, userValueOut);
        }
        int number = bucketOfUserKey(map.entries().keyHash(), buckets);
        writeBucket(map, number, bucket);
        if (buckets > 1 && !found) {
            writeHead(map);
        }
        boolean overfull = userEntries > (long) buckets * BUCKET_ENTRIES && buckets > 1;
        boolean tooLarge = userEntries > buckets && bucket.isTooLarge();
        if (overfull || tooLarge) {
            split(map);
        }
    }

    /**
     * Removes a user entry of the selected map if it has it; the map goes with its last one.
     *
     * @throws IOException if the user key cannot be serialized
     */
    public void remove(PartitionedMap map, UK userKey) throws IOException {
        if (!findUserEntry(map.entries(), userKey)) {
            return;
        }
        if (userEntries == 1) {
            delete(map);
            return;
        }
        bucket.removeCurrent();
        userEntries--;
        int number = bucketOfUserKey(map.entries().keyHash(), buckets);
        map.begin();
        try {
            writeBucket(map, number, bucket);
            if (buckets > 1) {
                writeHead(map);
            }
        } finally {
            map.end();
        }
    }

    @Override
    @Nullable
    public SlicedWrite<Map<UK, UV>> slicedWrite(Map<UK, UV> state) {
        boolean large = state.size() > LARGE_ENTRIES && HashMapCursor.isOver(state);
        return large ? new MapWrite<>(this) : null;
    }

    @Override
    @Nullable
    public SlicedRead<Map<UK, UV>> slicedRead(EntryReader entries) {
        return elements(entries) > LARGE_ENTRIES ? new MapRead<>(this) : null;
    }

    @Override
    public int elements(EntryReader entries) {
        readHead(entries);
        return userEntries;
    }

    @Override
    int parts(EntryReader entries) {
        readHead(entries);
        return buckets > 1 ? buckets : 0;
    }

    /** A user key of which the job may change the original. */
    UK copyUserKey(UK userKey) {
        return userKeySerializer.copy(userKey);
    }

    /** Sets a user entry in the buckets of a map that has no head. */
    void putCopied(PartitionedMap map, MapWrite.Copied copied, UK userKey, @Nullable UV userValue)
            throws IOException {
        boolean found = findCopied(map.entries(), copied, userKey);
        headless = true;
        try {
            put(map, found, userValue);
        } finally {
            headless = false;
            copied.userEntries = userEntries;
            copied.buckets = buckets;
        }
    }

    /** Removes a user entry from the buckets of a map that has no head. */
    void removeCopied(PartitionedMap map, MapWrite.Copied copied, UK userKey) throws IOException {
        if (findCopied(map.entries(), copied, userKey)) {
            bucket.removeCurrent();
            copied.userEntries--;
            writeBucket(map, bucketOfUserKey(map.entries().keyHash(), buckets), bucket);
        }
    }

    /** Gives a map its head, so that it exists. */
    void finishCopied(PartitionedMap map, MapWrite.Copied copied) throws IOException {
        removePartsBehind(map, copied.buckets);
        userEntries = copied.userEntries;
        buckets = copied.buckets;
        writeHead(map);
    }

    private boolean findCopied(EntryReader entries, MapWrite.Copied copied, UK userKey)
            throws IOException {
        writeUserKey(userKey);
        userEntries = copied.userEntries;
        buckets = copied.buckets;
        readBucket(entries, bucketOfUserKey(entries.keyHash(), buckets));
        return bucket.seek(userKeyOut);
    }

    private boolean findUserEntry(EntryReader entries, UK userKey) throws IOException {
        writeUserKey(userKey);
        if (!readHead(entries)) {
            return false;
        }
        if (buckets > 1) {
            readBucket(entries, bucketOfUserKey(entries.keyHash(), buckets));
        }
        return bucket.seek(userKeyOut);
    }

    private void writeUserKey(UK userKey) throws IOException {
        userKeyOut = cleared(userKeyOut);
        serialize(userKeySerializer, userKey, userKeyOut);
    }

    private int bucketOfUserKey(KeyHash hash, int bucketCount) {
        if (bucketCount == 1) {
            return 0;
        }
        int userKeyHash = hash.of(userKeyOut.getSharedBuffer(), userKeyOut.length());
        return MapHead.bucketOf(userKeyHash, bucketCount);
    }

    /** Where a user key lies in a map of that many buckets. */
    int originalBucket(UK userKey, int bucketCount, KeyHash hash) throws IOException {
        writeUserKey(userKey);
        return bucketOfUserKey(hash, bucketCount);
    }

    /** Reads the head's numbers and, of a small map, its user entries; false if there is no map. */
    private boolean readHead(EntryReader entries) {
        long address = find(entries);
        if (address == 0) {
            userEntries = 0;
            buckets = 0;
            bucket.clear();
            return false;
        }
        MemorySegment segment = entries.segment();
        int value = entries.valueOffset();
        userEntries = MapHead.userEntries(segment, value);
        buckets = MapHead.buckets(segment, value);
        if (buckets == 1) {
            bucket.set(entries, address, MapHead.bytes(segment, value));
        }
        return true;
    }

    private void readBucket(EntryReader entries, int number) {
        long address = findPart(entries, number);
        if (address == 0) {
            bucket.clear();
        } else {
            bucket.set(entries, address, 0);
        }
    }

    private void writeBucket(PartitionedMap map, int number, UserEntries entries)
            throws IOException {
        valueOut = cleared(valueOut);
        if (buckets == 1) {
            MapHead.write(valueOut, userEntries, buckets);
            valueOut.write(entries.bytes(), 0, entries.length());
            put(map, valueOut.getSharedBuffer(), valueOut.length());
        } else if (entries.length() == 0) {
            removePart(map, number);
        } else {
            putPart(map, number, entries.bytes(), entries.length());
        }
    }

    private void writeHead(PartitionedMap map) throws IOException {
        if (headless) {
            return;
        }
        MapHead.write(valueOut, userEntries, buckets);
        put(map, valueOut.getSharedBuffer(), valueOut.length());
    }

    private void split(PartitionedMap map) throws IOException {
        int source = buckets - Integer.highestOneBit(buckets);
        if (buckets > 1) {
            readBucket(map.entries(), source);
        }
        int target = buckets++;
        splitZero.clear();
        splitOne.clear();
        bucket.rewind();
        while (bucket.next()) {
            int hash = bucket.keyHash(map.entries().keyHash());
            (MapHead.bucketOf(hash, buckets) == target ? splitOne : splitZero)
                    .appendCurrentOf(bucket);
        }
        writeBucket(map, source, splitZero);
        writeBucket(map, target, splitOne);
        writeHead(map);
        splitZero.clear();
        splitOne.clear();
    }

    @Override
    public Map<UK, UV> read(EntryReader entries) throws IOException {
        if (!readHead(entries)) {
            return null;
        }
        int bucketCount = buckets;
        int expected = userEntries;
        int found = 0;
        Map<UK, UV> map = new HashMap<>(Math.max(4, (int) Math.min(1 << 30, expected * 2L)));
        for (int i = 0; i < bucketCount; i++) {
            if (bucketCount > 1) {
                readBucket(entries, i);
            }
            for (bucket.rewind(); bucket.next(); found++) {
                map.put(userKey(), userValue());
            }
        }
        if (bucketCount > 1) {
            readHead(entries);
        }
        // To a query: splits move user entries behind the last bucket that it knows of.
        boolean isWhole = found == expected || userEntries != expected;
        requireParts(isWhole && buckets == bucketCount, "user entries of a map");
        return map;
    }

    /** Buckets of the selected map; 0 if there is no map. */
    public int bucketCount(EntryReader entries) {
        readHead(entries);
        return buckets;
    }

    /**
     * Visits what a map of {@code bucketCount} buckets had in one bucket, wherever splits moved it
     * since.
     *
     * @param hash by which the map had it there; another one than the entries' if the map was on
     *     the heap meanwhile
     * @throws IOException if a user entry cannot be read
     */
    public void visitBucket(
            EntryReader entries,
            int number,
            int bucketCount,
            KeyHash hash,
            BiConsumer<UK, UV> consumer)
            throws IOException {
        if (!readHead(entries)) {
            return;
        }
        int bucketsNow = buckets;
        boolean anywhere = hash != entries.keyHash();
        // What a bucket had was spread by splits over those that agree with it in some low bits;
        // a map rewritten meanwhile may have fewer buckets, then it is in one of them.
        int step = anywhere ? 1 : Integer.highestOneBit(bucketCount);
        boolean fewer = bucketsNow < bucketCount && !anywhere;
        int first = fewer ? MapHead.bucketOf(number, bucketsNow) : number & (step - 1);
        int last = fewer ? first : bucketsNow - 1;
        for (int i = first; i <= last; i += step) {
            if (!fewer && !anywhere && MapHead.bucketOf(i, bucketCount) != number) {
                continue;
            }
            if (bucketsNow > 1) {
                readBucket(entries, i);
            }
            for (bucket.rewind(); bucket.next(); ) {
                if (MapHead.bucketOf(bucket.keyHash(hash), bucketCount) == number) {
                    consumer.accept(userKey(), userValue());
                }
            }
        }
    }

    @Override
    public void write(PartitionedMap map, Map<UK, UV> state) throws IOException {
        beginReplacement(map);
        try {
            delete(map);
            if (state.isEmpty()) {
                userEntries = 0;
                buckets = 1;
                writeHead(map);
            }
            for (Map.Entry<UK, UV> entry : state.entrySet()) {
                put(map, entry.getKey(), entry.getValue());
            }
        } finally {
            map.endReplacement();
        }
    }

    @Override
    public boolean delete(PartitionedMap map) {
        if (!readHead(map.entries())) {
            return false;
        }
        beginReplacement(map);
        try {
            for (int i = 0; buckets > 1 && i < buckets; i++) {
                removePart(map, i);
            }
            return remove(map);
        } finally {
            map.endReplacement();
        }
    }

    @Override
    void copyState(EntryReader entries, DataOutputView out) throws IOException {
        readHead(entries);
        out.writeInt(userEntries);
        int bucketCount = buckets;
        int left = userEntries;
        for (int i = 0; i < bucketCount; i++) {
            if (bucketCount > 1) {
                readBucket(entries, i);
            }
            for (bucket.rewind(); bucket.next(); left--) {
                int bytes = bucket.keyLength() + bucket.valueLength();
                out.write(bucket.bytes(), bucket.keyOffset(), bytes);
            }
        }
        requireParts(left == 0, "user entries of a map");
    }
}
