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

import dev.dstl.spillable.overlay.ChangeSequence;
import java.util.Arrays;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * The entries of one key group that lie on the heap, as objects. Task thread only; a {@link
 * HeapView} may be read by one other thread at the same time.
 *
 * <p>Extendible hashing: a directory, addressed by the top bits of the hash, of small tables of
 * chained entries. A table that is full splits alone, so no single operation costs more than one
 * table ({@value #MAX_BUCKETS} buckets), however many entries there are.
 *
 * <pre>
 *   directory (top bits)     00 ----.   01 ----.   10 -.  11 -.
 *                                   v          v       v      v
 *   tables (low bits)            [ 8192 ]   [ 8192 ]  [ 8192 ]     two directory slots, one table
 *                                   |
 *   chain                         entry -> entry -> entry
 * </pre>
 *
 * <p>Copy on write: a view takes the directory as it is. From then on a table, a link or a state
 * object older than the oldest view still open is copied before it changes. A state object handed
 * out is copied as well, because its user may change it in place.
 */
final class HeapMap<K, N, S> {

    static final int MAX_BUCKETS = 8192;
    private static final int FIRST_BUCKETS = 16;

    /**
     * Entries that a directory slot has on average, at least. Tables have ten times as many when
     * hashes differ; where many are equal, splits cannot divide them and would only double the
     * directory.
     */
    private static final int SLOT_ENTRIES = 256;

    /** One small table and what the map must know about it. */
    private static final class Table<K, N, S> {
        final HeapEntry<K, N, S>[] buckets;
        final int depth;
        final int version;
        int entries;

        Table(HeapEntry<K, N, S>[] buckets, int depth, int version, int entries) {
            this.buckets = buckets;
            this.depth = depth;
            this.version = version;
            this.entries = entries;
        }
    }

    private final HeapViews views = new HeapViews();
    private final ChangeSequence growth = new ChangeSequence();
    private TypeSerializer<S> stateSerializer;
    private boolean statesNeverChange;

    private int depth;
    private Table<K, N, S>[] tables;

    /** The buckets of {@link #tables}, one indirection closer to the lookup. */
    private HeapEntry<K, N, S>[][] buckets;

    /**
     * Length of each element of {@link #buckets} less one: tables differ in length only while there
     * is but one. Known without a look at the array, whose bucket is then fetched together with its
     * length instead of after it.
     */
    private int bucketMask;

    private int size;

    HeapMap(TypeSerializer<S> stateSerializer) {
        setStateSerializer(stateSerializer);
        clear();
    }

    void setStateSerializer(TypeSerializer<S> stateSerializer) {
        this.stateSerializer = stateSerializer;
        this.statesNeverChange = stateSerializer.isImmutableType();
    }

    private void clear() {
        depth = 0;
        size = 0;
        tables = tableArray(1);
        buckets = directoryArray(1);
        place(0, new Table<>(bucketArray(FIRST_BUCKETS), 0, views.version(), 0));
    }

    int size() {
        return size;
    }

    /** The entry's state, safe to be changed in place, or null. */
    S get(K key, N namespace) {
        int hash = hash(key, namespace);
        HeapEntry<K, N, S> entry = find(hash, key, namespace);
        if (entry == null) {
            return null;
        }
        if (isSeen(entry)) {
            entry = writable(hash, entry);
            entry.state = stateSerializer.copy(entry.state);
            entry.stateVersion = views.version();
        }
        return entry.state;
    }

    /** The entry's state, which must not be changed, or null. */
    S peek(K key, N namespace) {
        int hash = hash(key, namespace);
        HeapEntry<K, N, S>[] chains = buckets[directoryIndex(hash)];
        HeapEntry<K, N, S> entry =
                inChain(chains[hash & (chains.length - 1)], hash, key, namespace);
        return entry == null ? null : entry.state;
    }

    /**
     * As {@link #peek}, for other threads.
     *
     * @throws IllegalStateException if entries went from table to table, where one may be missed
     */
    S peekForeign(K key, N namespace) {
        int before = growth.current();
        S state = peek(key, namespace);
        if (state == null && !growth.isStill(before)) {
            throw new IllegalStateException("Entries moved while one was looked for");
        }
        return state;
    }

    /** Sets the state of an entry that exists; false if there is none. */
    boolean replace(K key, N namespace, S state) {
        int hash = hash(key, namespace);
        HeapEntry<K, N, S> entry = find(hash, key, namespace);
        if (entry == null) {
            return false;
        }
        setState(hash, entry, state);
        return true;
    }

    void put(K key, N namespace, S state) {
        int hash = hash(key, namespace);
        HeapEntry<K, N, S> entry = find(hash, key, namespace);
        if (entry != null) {
            setState(hash, entry, state);
            return;
        }
        int index = directoryIndex(hash);
        Table<K, N, S> table = writableTable(index);
        int bucket = hash & (table.buckets.length - 1);
        table.buckets[bucket] =
                new HeapEntry<>(
                        key, namespace, hash, state, table.buckets[bucket], views.version());
        size++;
        if (++table.entries > table.buckets.length - (table.buckets.length >>> 2)) {
            growth.begin();
            grow(index, table);
            growth.end();
        }
    }

    /** Removes an entry; false if there is none. */
    boolean remove(K key, N namespace) {
        HeapEntry<K, N, S> entry = find(key, namespace);
        if (entry == null) {
            return false;
        }
        unlink(entry.hash, entry);
        return true;
    }

    /** Removes an entry and returns its state, safe to be changed in place, or null. */
    S removeAndGet(K key, N namespace) {
        HeapEntry<K, N, S> entry = find(key, namespace);
        if (entry == null) {
            return null;
        }
        S state = isSeen(entry) ? stateSerializer.copy(entry.state) : entry.state;
        unlink(entry.hash, entry);
        return state;
    }

    /** Whether a view sees the state object, which may change. */
    private boolean isSeen(HeapEntry<K, N, S> entry) {
        return !statesNeverChange && entry.stateVersion < views.neededBelow();
    }

    private void unlink(int hash, HeapEntry<K, N, S> entry) {
        Table<K, N, S> table = writableTable(directoryIndex(hash));
        int bucket = hash & (table.buckets.length - 1);
        HeapEntry<K, N, S> first = table.buckets[bucket];
        if (first == entry) {
            table.buckets[bucket] = entry.next;
        } else {
            HeapEntry<K, N, S> before = first;
            while (before.next != entry) {
                before = before.next;
            }
            writableLink(table, bucket, before).next = entry.next;
        }
        table.entries--;
        size--;
    }

    private void setState(int hash, HeapEntry<K, N, S> found, S state) {
        HeapEntry<K, N, S> entry = writable(hash, found);
        entry.state = state;
        entry.stateVersion = views.version();
    }

    private HeapEntry<K, N, S> find(K key, N namespace) {
        return size == 0 ? null : find(hash(key, namespace), key, namespace);
    }

    private HeapEntry<K, N, S> find(int hash, K key, N namespace) {
        return inChain(buckets[directoryIndex(hash)][hash & bucketMask], hash, key, namespace);
    }

    private HeapEntry<K, N, S> inChain(HeapEntry<K, N, S> first, int hash, K key, N namespace) {
        HeapEntry<K, N, S> entry = first;
        while (entry != null && !entry.matches(hash, key, namespace)) {
            entry = entry.next;
        }
        return entry;
    }

    private HeapEntry<K, N, S> writable(int hash, HeapEntry<K, N, S> entry) {
        if (entry.version >= views.neededBelow()) {
            return entry;
        }
        Table<K, N, S> table = writableTable(directoryIndex(hash));
        return writableLink(table, hash & (table.buckets.length - 1), entry);
    }

    private Table<K, N, S> writableTable(int index) {
        Table<K, N, S> table = tables[index];
        if (table.version >= views.neededBelow()) {
            return table;
        }
        Table<K, N, S> copy =
                new Table<>(table.buckets.clone(), table.depth, views.version(), table.entries);
        place(index, copy);
        return copy;
    }

    /** Copies the links of a chain that a view needs, from its start up to {@code target}. */
    private HeapEntry<K, N, S> writableLink(
            Table<K, N, S> table, int bucket, HeapEntry<K, N, S> target) {
        int needed = views.neededBelow();
        HeapEntry<K, N, S> previous = null;
        HeapEntry<K, N, S> entry = table.buckets[bucket];
        while (true) {
            boolean last = entry == target;
            if (entry.version < needed) {
                entry = entry.copy(entry.next, views.version());
                if (previous == null) {
                    table.buckets[bucket] = entry;
                } else {
                    previous.next = entry;
                }
            }
            if (last) {
                return entry;
            }
            previous = entry;
            entry = entry.next;
        }
    }

    private void grow(int index, Table<K, N, S> table) {
        if (table.buckets.length < MAX_BUCKETS) {
            Table<K, N, S> bigger =
                    new Table<>(
                            bucketArray(table.buckets.length << 1),
                            table.depth,
                            views.version(),
                            0);
            relink(table, entry -> bigger);
            place(index, bigger);
        } else {
            split(index, table);
        }
    }

    private void split(int index, Table<K, N, S> table) {
        int splitIndex = index;
        if (table.depth == depth) {
            if (tables.length > size / SLOT_ENTRIES) {
                return;
            }
            doubleDirectory();
            splitIndex = index << 1;
        }
        int splitDepth = table.depth + 1;
        Table<K, N, S> zero = new Table<>(bucketArray(MAX_BUCKETS), splitDepth, views.version(), 0);
        Table<K, N, S> one = new Table<>(bucketArray(MAX_BUCKETS), splitDepth, views.version(), 0);
        int splitBit = 1 << (31 - table.depth);
        relink(table, entry -> (entry.hash & splitBit) == 0 ? zero : one);
        int span = 1 << (depth - table.depth);
        int start = splitIndex & -span;
        place(start, zero);
        place(start + (span >>> 1), one);
    }

    private interface TableOf<K, N, S> {
        Table<K, N, S> of(HeapEntry<K, N, S> entry);
    }

    private void relink(Table<K, N, S> from, TableOf<K, N, S> target) {
        int needed = views.neededBelow();
        for (HeapEntry<K, N, S> chain : from.buckets) {
            HeapEntry<K, N, S> entry = chain;
            while (entry != null) {
                HeapEntry<K, N, S> next = entry.next;
                Table<K, N, S> to = target.of(entry);
                int bucket = entry.hash & (to.buckets.length - 1);
                if (entry.version < needed) {
                    to.buckets[bucket] = entry.copy(to.buckets[bucket], views.version());
                } else {
                    entry.next = to.buckets[bucket];
                    to.buckets[bucket] = entry;
                }
                to.entries++;
                entry = next;
            }
        }
    }

    private void doubleDirectory() {
        Table<K, N, S>[] oldTables = tables;
        HeapEntry<K, N, S>[][] oldBuckets = buckets;
        tables = tableArray(oldTables.length << 1);
        buckets = directoryArray(oldTables.length << 1);
        for (int i = 0; i < tables.length; i++) {
            tables[i] = oldTables[i >>> 1];
            buckets[i] = oldBuckets[i >>> 1];
        }
        depth++;
    }

    /** Enters a table in every directory slot that it covers. */
    private void place(int index, Table<K, N, S> table) {
        int span = 1 << (depth - table.depth);
        int start = index & -span;
        Arrays.fill(tables, start, start + span, table);
        Arrays.fill(buckets, start, start + span, table.buckets);
        bucketMask = table.buckets.length - 1;
    }

    /** Opens a consistent view; until it is closed, what it needs is copied before it changes. */
    HeapView<K, N, S> view() {
        return new HeapView<>(views, buckets.clone(), size);
    }

    /**
     * Number of positions a cursor runs over: {@code [0, cursorEnd())}. Changes as the map grows.
     */
    int cursorEnd() {
        return tables.length;
    }

    /** Visits all entries under one cursor position; none if an earlier position showed them. */
    void visit(int cursor, Consumer<? super HeapEntry<K, N, S>> visitor) {
        if (cursor > 0 && tables[cursor - 1] == tables[cursor]) {
            return;
        }
        for (HeapEntry<K, N, S> chain : tables[cursor].buckets) {
            for (HeapEntry<K, N, S> entry = chain; entry != null; entry = entry.next) {
                visitor.accept(entry);
            }
        }
    }

    /**
     * Visits entries bucket by bucket from a position on; an entry that moves meanwhile, as its
     * table grows, may be met twice or missed.
     *
     * @param position 0 or what the call before returned
     * @param most number of entries after which to stop, with the bucket they are in
     * @return where to go on, or -1 if there are no more
     */
    long visitFrom(long position, int most, Consumer<? super HeapEntry<K, N, S>> visitor) {
        int index = (int) (position >>> Integer.SIZE);
        int bucket = (int) position;
        int visited = 0;
        for (int looked = 0; index < tables.length; looked++) {
            Table<K, N, S> table = tables[index];
            if (table.entries == 0 || bucket >= table.buckets.length) {
                index = afterTable(index, table);
                bucket = 0;
                continue;
            }
            if (visited >= most || looked >= MAX_BUCKETS) {
                return ((long) index << Integer.SIZE) | bucket;
            }
            for (HeapEntry<K, N, S> entry = table.buckets[bucket++];
                    entry != null;
                    entry = entry.next) {
                visitor.accept(entry);
                visited++;
            }
        }
        return -1;
    }

    private int afterTable(int index, Table<K, N, S> table) {
        return (index | ((1 << (depth - table.depth)) - 1)) + 1;
    }

    /**
     * The entry to leave the map next: of one bucket after another, the same one until it is
     * removed. Null if the map is empty.
     */
    @Nullable
    HeapEntry<K, N, S> next() {
        while (size > 0) {
            if (drainTable >= tables.length) {
                drainTable = 0;
                drainBucket = 0;
            }
            Table<K, N, S> table = tables[drainTable];
            if (table.entries == 0 || drainBucket >= table.buckets.length) {
                drainTable = afterTable(drainTable, table);
                drainBucket = 0;
                continue;
            }
            HeapEntry<K, N, S> first = table.buckets[drainBucket];
            if (first != null) {
                return first;
            }
            drainBucket++;
        }
        return null;
    }

    /** Removes an entry whose state is on the other side; gives the tables back with the last. */
    void discard(K key, N namespace) {
        HeapEntry<K, N, S> entry = find(key, namespace);
        if (entry != null) {
            discard(entry);
        }
    }

    /** As the other {@code discard}, of what {@link #next} gave, even if its key has changed. */
    void discard(HeapEntry<K, N, S> entry) {
        unlink(entry.hash, entry);
        if (size == 0) {
            clear();
        }
    }

    private int drainTable;
    private int drainBucket;

    private int directoryIndex(int hash) {
        return (hash >>> 1) >>> (31 - depth);
    }

    private static int hash(Object key, Object namespace) {
        int hash = (key.hashCode() * 31 + namespace.hashCode()) * 0x9E3779B1;
        return hash ^ (hash >>> 15);
    }

    @SuppressWarnings("unchecked") // an array of a generic type
    private static <K, N, S> HeapEntry<K, N, S>[] bucketArray(int length) {
        return (HeapEntry<K, N, S>[]) new HeapEntry<?, ?, ?>[length];
    }

    @SuppressWarnings("unchecked") // an array of a generic type
    private static <K, N, S> HeapEntry<K, N, S>[][] directoryArray(int length) {
        return (HeapEntry<K, N, S>[][]) new HeapEntry<?, ?, ?>[length][];
    }

    @SuppressWarnings("unchecked") // an array of a generic type
    private static <K, N, S> Table<K, N, S>[] tableArray(int length) {
        return (Table<K, N, S>[]) new Table<?, ?, ?>[length];
    }
}
