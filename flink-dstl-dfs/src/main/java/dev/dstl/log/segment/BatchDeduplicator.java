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

import dev.dstl.log.batch.PagedBytes;
import dev.dstl.log.batch.PagedRecord;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Finds the obsolete records of a batch, by the rules of {@link dev.dstl.log.api.RecordKind}: the
 * last write wins. Not thread-safe; reuses its memory for every batch.
 *
 * <p>It goes from the newest record to the oldest and remembers, in an open-addressing table of
 * record numbers, what makes older ones obsolete: the record key of each PUT and DELETE, the key
 * prefix of each DELETE_PREFIX. A record that finds its key or its prefix there is obsolete. It
 * need not be remembered itself, because whatever made it obsolete covers at least as much.
 *
 * <p>If few keys repeat, the table costs several cache misses per record and saves nothing, so a
 * large batch is surveyed first, see {@link BatchSurvey}.
 */
final class BatchDeduplicator {

    private static final int MAX_TABLE_KEPT = 1 << 19;

    private final PagedRecord record = new PagedRecord();
    private final PagedRecord candidate = new PagedRecord();
    private BitSet obsolete = new BitSet();

    /** Record number plus one; 0 marks a free slot. */
    private int[] table = new int[0];

    /**
     * A power of two, so that a hash is reduced to a slot by masking; at least half of the slots
     * are free.
     */
    private int tableSize;

    private int prefixEntries;

    private PagedBytes bytes;
    private BatchRecords records;

    /**
     * Finds the obsolete records of a batch, or of a sample that has every version of its keys.
     *
     * @return numbers of the obsolete records; valid until the next call
     */
    BitSet find(BatchRecords batch) {
        records = batch;
        bytes = batch.bytes();
        obsolete.clear();
        if (batch.hasKeys()) {
            clearTable(batch.count());
            for (int i = batch.count() - 1; i >= 0; i--) {
                batch.read(i, record);
                visit(i);
            }
        }
        return obsolete;
    }

    long keptBytes() {
        return (long) table.length * Integer.BYTES + obsolete.size() / Byte.SIZE;
    }

    /** Frees memory that an exceptionally large batch needed. */
    void trim() {
        if (table.length > MAX_TABLE_KEPT) {
            table = new int[0];
            obsolete = new BitSet();
        }
        records = null;
        bytes = null;
    }

    private void visit(int number) {
        switch (record.kind()) {
            case PUT:
            case DELETE:
                if (isCovered(number)) {
                    obsolete.set(number);
                } else {
                    insert(number);
                }
                break;
            case APPEND:
                if (isCovered(number)) {
                    obsolete.set(number);
                }
                break;
            case DELETE_PREFIX:
                if (isPrefixCovered()) {
                    obsolete.set(number);
                } else {
                    insert(number);
                    prefixEntries++;
                }
                break;
            default:
                break;
        }
    }

    private boolean isCovered(int number) {
        return contains(records.hash(number), record.keyLength(), false) || isPrefixCovered();
    }

    private boolean isPrefixCovered() {
        return prefixEntries > 0
                && contains(BatchRecords.prefixHash(bytes, record), record.keyPrefixLength(), true);
    }

    private boolean contains(int hash, int length, boolean prefix) {
        int mask = tableSize - 1;
        for (int slot = hash & mask; table[slot] != 0; slot = (slot + 1) & mask) {
            int number = table[slot] - 1;
            if (records.hash(number) == hash && isSame(number, length, prefix)) {
                return true;
            }
        }
        return false;
    }

    private boolean isSame(int number, int length, boolean prefix) {
        records.read(number, candidate);
        return BatchRecords.isPrefixDelete(candidate) == prefix
                && candidate.stateId() == record.stateId()
                && candidate.keyLength() == length
                && bytes.equal(candidate.keyPosition(), record.keyPosition(), length);
    }

    private void insert(int number) {
        int mask = tableSize - 1;
        int slot = records.hash(number) & mask;
        while (table[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        table[slot] = number + 1;
    }

    /** A table for a sample is small, so that it evicts nothing from the processor's cache. */
    private void clearTable(int recordCount) {
        tableSize = Integer.highestOneBit(recordCount) << 2;
        if (table.length < tableSize) {
            table = new int[tableSize];
        } else {
            Arrays.fill(table, 0, tableSize, 0);
        }
        prefixEntries = 0;
    }
}
