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

import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.PagedBytes;
import dev.dstl.log.batch.PagedRecord;
import dev.dstl.log.batch.RecordPreamble;
import java.util.BitSet;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Decides in one pass over a large batch, or two, whether dropping its obsolete records pays, and
 * measures its key groups. Not thread-safe; reuses its memory for every batch.
 *
 * <p>The batch is sampled: all records of one key group in {@value #SAMPLE_RATE}. So the sample
 * contains every version of the keys in it, and its dead share estimates that of the batch without
 * bias, unlike a sample of records would. The headers of other records need not be read. Where a
 * task has fewer key groups, the sample is all records whose key's hash falls into one of {@value
 * #SAMPLE_RATE} classes; as a DELETE_PREFIX covers keys of any class, a batch that has one is not
 * sampled then. A sample of few records means few keys: a small table, and repetitions. A sample of
 * many means that much happens under few keys.
 *
 * <p>A few hot keys are probably not in the sample. But keys spread evenly, so the survivors of the
 * sample also estimate those of the rest; where the rest is much larger than that, it repeats few
 * keys. In key groups it may be one key with many map keys as well, which a second sample by the
 * hash tells apart.
 */
final class BatchSurvey {

    static final int SAMPLE_RATE = 16;

    /** A quarter of the records, in arrays that double. */
    static final int MOST_BYTES_PER_RECORD = 10;

    /**
     * Batches with fewer records are cheap to deduplicate, and their samples are not significant.
     */
    static final int MIN_RECORDS = 8192;

    /** Divisor of {@link #MIN_RECORDS} for the smallest sample that is significant. */
    private static final int MIN_SAMPLE_SHARE = 64;

    /**
     * Divisor of the batch size below which dropping obsolete records does not pay. WordCount on
     * HashMap with 9 % of obsolete records: to find them took 65 % of the encoding's CPU time, to
     * compress and write 9 % more takes 3 %.
     */
    private static final int WORTHWHILE_SHARE = 5;

    /** Divisor of the batch for the largest sample. */
    private static final int LARGEST_SAMPLE_SHARE = 4;

    private final int minRecords;
    private final BatchDeduplicator deduplicator;
    private final PagedRecord record = new PagedRecord();
    private final BatchRecords sample = new BatchRecords();
    private final KeyGroupSizes sizes = new KeyGroupSizes();

    /** Records in the sample, those without a key included, and their bytes. */
    private int sampled;

    private long sampledBytes;

    /** Plain bytes of the records that could have been in the sample and are not. */
    private long unsampledBytes;

    /** Plain bytes of the records with a key in the sample that are not obsolete. */
    private long survivingBytes;

    /**
     * Creates a survey.
     *
     * @param minRecords smallest batch that is sampled
     * @param deduplicator for the sample; may be used for other batches between two calls
     */
    BatchSurvey(int minRecords, BatchDeduplicator deduplicator) {
        this.minRecords = minRecords;
        this.deduplicator = deduplicator;
    }

    /**
     * Returns whether a batch is large and few of its records are obsolete, so that it is best
     * written as it is. Its {@link #sizes} are known then. Takes up to {@value
     * #MOST_BYTES_PER_RECORD} bytes of memory per record of the batch.
     */
    boolean isBestLeftAsItIs(LogBatch batch) {
        if (batch.recordCount() < minRecords) {
            return false;
        }
        KeyGroupRange keyGroups = batch.keyGroupRange();
        if (keyGroups.getNumberOfKeyGroups() >= SAMPLE_RATE) {
            if (!scan(batch, true) || isWorthwhile()) {
                return false;
            }
            if (!restRepeatsFewKeys(batch, unsampledPerSampled(keyGroups))) {
                return true;
            }
        }
        return scan(batch, false) && !isWorthwhile() && !restRepeatsFewKeys(batch, SAMPLE_RATE - 1);
    }

    /** Returns how many key groups there are per sampled one, without that. */
    private static double unsampledPerSampled(KeyGroupRange keyGroups) {
        int before = Math.floorDiv(keyGroups.getStartKeyGroup() - 1, SAMPLE_RATE);
        int sampledGroups = keyGroups.getEndKeyGroup() / SAMPLE_RATE - before;
        return (double) keyGroups.getNumberOfKeyGroups() / sampledGroups - 1;
    }

    /** Returns false if the batch cannot be sampled, or not without sampling much of it. */
    private boolean scan(LogBatch batch, boolean byKeyGroup) {
        PagedBytes bytes = batch.records();
        sample.begin(bytes);
        sampled = 0;
        sampledBytes = 0;
        unsampledBytes = 0;
        sizes.clear();
        int mostSampled = Math.max(minRecords, batch.recordCount()) / LARGEST_SAMPLE_SHARE;
        long at = 0;
        for (int i = 0; i < batch.recordCount(); i++) {
            long preamble = RecordPreamble.at(bytes, at);
            int keyGroup = RecordPreamble.keyGroup(preamble);
            int plainBytes = RecordPreamble.plainBytes(preamble);
            sizes.add(keyGroup, plainBytes);
            if (byKeyGroup) {
                if (keyGroup >= 0 && keyGroup % SAMPLE_RATE == 0) {
                    record.readAt(bytes, at);
                    sample(BatchRecords.hash(bytes, record));
                }
            } else {
                record.readAt(bytes, at);
                if (BatchRecords.isPrefixDelete(record)) {
                    return false;
                }
                int hash = BatchRecords.hash(bytes, record);
                if (isInSample(hash)) {
                    sample(hash);
                } else {
                    unsampledBytes += plainBytes;
                }
            }
            if (sample.count() > mostSampled) {
                return false;
            }
            at += RecordPreamble.keyGroupBytes(preamble) + plainBytes;
        }
        if (byKeyGroup) {
            addUnsampledKeyGroups();
        }
        return true;
    }

    private void addUnsampledKeyGroups() {
        for (int keyGroup = 0; keyGroup <= sizes.highestKeyGroup(); keyGroup++) {
            if (keyGroup % SAMPLE_RATE != 0) {
                unsampledBytes += sizes.plainBytes(keyGroup);
            }
        }
    }

    private void sample(int hash) {
        sampled++;
        sampledBytes += record.length();
        if (BatchRecords.hasKey(record)) {
            sample.add(record, hash);
        }
    }

    /** Uses the upper bits of the hash, since the table of the deduplicator uses the lower ones. */
    private static boolean isInSample(int hash) {
        return (hash >>> Short.SIZE) % SAMPLE_RATE == 0;
    }

    private boolean isWorthwhile() {
        if (sampled < minRecords / MIN_SAMPLE_SHARE) {
            return true;
        }
        BitSet obsolete = deduplicator.find(sample);
        long deadBytes = 0;
        survivingBytes = 0;
        for (int i = 0; i < sample.count(); i++) {
            if (obsolete.get(i)) {
                deadBytes += sample.length(i);
            } else {
                survivingBytes += sample.length(i) + RecordFormat.varintLength(sample.length(i));
            }
        }
        return deadBytes > sampledBytes / WORTHWHILE_SHARE;
    }

    /** Returns whether what is not in the sample is much more than its keys would need once. */
    private boolean restRepeatsFewKeys(LogBatch batch, double unsampledPerSampled) {
        double expectedBytes = survivingBytes * unsampledPerSampled;
        return unsampledBytes - expectedBytes > (double) batch.sizeBytes() / WORTHWHILE_SHARE;
    }

    /** Returns the sizes of the key groups; valid until the next survey. */
    KeyGroupSizes sizes() {
        return sizes;
    }

    long keptBytes() {
        return sample.keptBytes() + sizes.keptBytes();
    }

    /** Forgets the batch and frees memory that an exceptionally large one needed. */
    void trim() {
        sample.trim();
    }
}
