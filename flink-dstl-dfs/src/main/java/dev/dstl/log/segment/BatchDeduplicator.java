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
 * <p>If few keys repeat, the table costs several cache misses per record and saves nothing. So a
 * large batch is sampled first. The sample is all records whose key's hash falls into one of
 * {@value #SAMPLE_RATE} classes, and so contains every version of the keys in it; its dead share
 * estimates that of the batch without bias, unlike a sample of records would. A sample of few
 * records means few keys: a small table, and repetitions. A DELETE_PREFIX covers keys of any class,
 * so batches that have one are never sampled.
 */
final class BatchDeduplicator {

    static final int SAMPLE_RATE = 16;

    /**
     * Batches with fewer records are cheap to deduplicate, and their samples are not significant.
     */
    static final int MIN_RECORDS_TO_SAMPLE = 8192;

    private static final int MIN_SAMPLE = 128;

    /**
     * Divisor of the batch size below which dropping obsolete records does not pay. WordCount on
     * HashMap with 9 % of obsolete records: to find them took 65 % of the encoding's CPU time, to
     * compress and write 9 % more takes 3 %.
     */
    private static final int WORTHWHILE_SHARE = 5;

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
     * Finds the obsolete records of a batch.
     *
     * @return numbers of the obsolete records; only those of the sample if finding more would not
     *     pay. Valid until the next call
     */
    BitSet find(BatchRecords batch) {
        records = batch;
        bytes = batch.bytes();
        obsolete.clear();
        if (!batch.hasKeys()) {
            return obsolete;
        }
        boolean sampled = batch.count() >= MIN_RECORDS_TO_SAMPLE && !batch.hasPrefixDeletes();
        if (!sampled || isWorthwhile()) {
            obsolete.clear();
            pass(batch.count(), false);
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

    private boolean isWorthwhile() {
        int sampleCount = 0;
        for (int i = 0; i < records.count(); i++) {
            sampleCount += isInSample(i) ? 1 : 0;
        }
        if (sampleCount < MIN_SAMPLE) {
            return true;
        }
        pass(sampleCount, true);
        long sampleBytes = 0;
        long deadBytes = 0;
        for (int i = 0; i < records.count(); i++) {
            if (isInSample(i)) {
                sampleBytes += records.length(i);
                deadBytes += obsolete.get(i) ? records.length(i) : 0;
            }
        }
        return deadBytes >= sampleBytes / WORTHWHILE_SHARE;
    }

    /** Uses the upper bits of the hash, since the table uses the lower ones. */
    private boolean isInSample(int number) {
        return Integer.remainderUnsigned(records.hash(number) >>> Short.SIZE, SAMPLE_RATE) == 0;
    }

    private void pass(int recordCount, boolean sampleOnly) {
        clearTable(recordCount);
        for (int i = records.count() - 1; i >= 0; i--) {
            if (!sampleOnly || isInSample(i)) {
                records.read(i, record);
                visit(i);
            }
        }
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
