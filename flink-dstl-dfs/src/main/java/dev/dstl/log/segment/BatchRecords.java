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

package dev.dstl.log.segment;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagedBytes;
import dev.dstl.log.batch.PagedRecord;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Positions of the records of one batch, by their number in write order, and their order by key
 * group. Not thread-safe; reuses its memory for every batch.
 */
final class BatchRecords {

    private static final int MIN_RECORDS = 128;
    private static final int MAX_RECORDS_KEPT = 1 << 17;

    private final PagedRecord record = new PagedRecord();
    private PagedBytes bytes;
    private int count;
    private boolean keys;
    private int lowestKeyGroup;
    private int highestKeyGroup;

    private long[] positions = new long[0];
    private int[] lengths = new int[0];
    private int[] hashes = new int[0];
    private int[] keyGroups = new int[0];
    private int[] order = new int[0];
    private int[] groupEnds = new int[0];

    /** Locates all records of a batch. */
    void scan(LogBatch batch) {
        begin(batch.records());
        reserve(batch.recordCount());
        long at = 0;
        for (int i = 0; i < batch.recordCount(); i++) {
            record.readAt(bytes, at);
            add(record, hash(bytes, record));
            at = record.end();
        }
    }

    /** Forgets the records and starts with others, which are {@link #add added}. */
    void begin(PagedBytes source) {
        bytes = source;
        count = 0;
        keys = false;
        lowestKeyGroup = Integer.MAX_VALUE;
        highestKeyGroup = -1;
    }

    /**
     * Adds a record.
     *
     * @param hash its {@link #hash(PagedBytes, PagedRecord)}
     */
    void add(PagedRecord added, int hash) {
        if (count == positions.length) {
            reserve(Math.max(MIN_RECORDS, 2 * count));
        }
        positions[count] = added.position();
        lengths[count] = added.length();
        keyGroups[count] = added.keyGroup();
        hashes[count] = hash;
        lowestKeyGroup = Math.min(lowestKeyGroup, added.keyGroup());
        highestKeyGroup = Math.max(highestKeyGroup, added.keyGroup());
        keys |= hasKey(added);
        count++;
    }

    /** Returns whether the record has a key. */
    static boolean hasKey(PagedRecord record) {
        return record.kind() != RecordKind.META && record.kind() != RecordKind.OPAQUE;
    }

    /** Returns a hash of what the record overwrites; 0 if it has no key. */
    static int hash(PagedBytes bytes, PagedRecord record) {
        if (!hasKey(record)) {
            return 0;
        }
        return isPrefixDelete(record)
                ? prefixHash(bytes, record)
                : bytes.hash(record.keyPosition(), record.keyLength(), record.stateId());
    }

    /**
     * Returns the hash of a record's key prefix, equal to that of a DELETE_PREFIX that covers the
     * record.
     */
    static int prefixHash(PagedBytes bytes, PagedRecord record) {
        return bytes.hash(record.keyPosition(), record.keyPrefixLength(), ~record.stateId());
    }

    static boolean isPrefixDelete(PagedRecord record) {
        return record.kind() == RecordKind.DELETE_PREFIX;
    }

    /**
     * Sorts the records by key group, those without a key group first, in write order within each
     * key group.
     *
     * @param left numbers of records to leave out
     * @return record numbers, valid until the next scan; only as many elements are used as records
     *     remain
     */
    int[] orderByKeyGroup(BitSet left) {
        int groups = highestKeyGroup - lowestKeyGroup + 1;
        if (groupEnds.length < groups) {
            groupEnds = new int[groups];
        }
        Arrays.fill(groupEnds, 0, groups, 0);
        if (order.length < count) {
            order = new int[positions.length];
        }
        for (int i = 0; i < count; i++) {
            groupEnds[keyGroups[i] - lowestKeyGroup]++;
        }
        for (int group = 1; group < groups; group++) {
            groupEnds[group] += groupEnds[group - 1];
        }
        for (int i = count - 1; i >= 0; i--) {
            order[--groupEnds[keyGroups[i] - lowestKeyGroup]] = i;
        }
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (!left.get(order[i])) {
                order[kept++] = order[i];
            }
        }
        return order;
    }

    PagedBytes bytes() {
        return bytes;
    }

    int count() {
        return count;
    }

    /** Returns whether any record has a key, so that records may be obsolete. */
    boolean hasKeys() {
        return keys;
    }

    /** Points a view at a record. */
    void read(int number, PagedRecord view) {
        view.readAt(bytes, positions[number], lengths[number], keyGroups[number]);
    }

    /** Returns the position of a record, after its preamble. */
    long position(int number) {
        return positions[number];
    }

    /** Returns the length of a record in bytes. */
    int length(int number) {
        return lengths[number];
    }

    /** Returns the key group, -1 for a record without a key group. */
    int keyGroup(int number) {
        return keyGroups[number];
    }

    int hash(int number) {
        return hashes[number];
    }

    long keptBytes() {
        return (long) positions.length * (Long.BYTES + 3 * Integer.BYTES)
                + (long) (order.length + groupEnds.length) * Integer.BYTES;
    }

    /** Forgets the batch and frees memory that an exceptionally large one needed. */
    void trim() {
        bytes = null;
        if (positions.length > MAX_RECORDS_KEPT) {
            positions = new long[0];
            lengths = new int[0];
            hashes = new int[0];
            keyGroups = new int[0];
            order = new int[0];
        }
    }

    private void reserve(int records) {
        if (positions.length < records) {
            int size = Math.max(records, Math.min(2 * positions.length, MAX_RECORDS_KEPT));
            positions = Arrays.copyOf(positions, size);
            lengths = Arrays.copyOf(lengths, size);
            hashes = Arrays.copyOf(hashes, size);
            keyGroups = Arrays.copyOf(keyGroups, size);
        }
    }
}
