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

import dev.dstl.log.batch.LogBatch;
import java.util.BitSet;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Encodes batches into a segment: drops obsolete records, sorts by key group, compresses and
 * checksums. Runs off the task thread; not thread-safe, since it reuses its scratch memory.
 */
public final class SegmentEncoder {

    /**
     * Bytes that a batch takes in a segment in addition to its records: frame header, directory
     * entry and an index with few key groups. With few records per batch, this is more than the
     * records.
     */
    public static final int FRAME_OVERHEAD_BYTES =
            SegmentFormat.FRAME_HEADER_BYTES + SegmentFormat.DIRECTORY_ENTRY_BYTES + 12;

    /** Bytes that a segment takes in addition to its frames and their directory entries. */
    public static final int SEGMENT_OVERHEAD_BYTES =
            SegmentFormat.HEADER_BYTES + SegmentFormat.TAIL_BYTES;

    /** Memory per record while the records of a batch are sampled, sorted and compared. */
    private static final int WORKING_BYTES_PER_RECORD = 40 + BatchSurvey.MOST_BYTES_PER_RECORD;

    private final BlockWriter blocks;
    private final BatchRecords records = new BatchRecords();
    private final BatchDeduplicator deduplicator = new BatchDeduplicator();
    private final BatchSurvey survey;
    private final CountingSort countingSort;
    private final ByteSink index = new ByteSink();
    private final ByteSink header = new ByteSink();
    private final CRC32C checksum = new CRC32C();

    /**
     * Creates an encoder.
     *
     * @param codec used for blocks that shrink
     */
    public SegmentEncoder(SegmentCodec codec) {
        this(codec, SegmentFormat.BLOCK_BYTES);
    }

    SegmentEncoder(SegmentCodec codec, int blockBytes) {
        this(codec, blockBytes, BatchSurvey.MIN_RECORDS);
    }

    SegmentEncoder(SegmentCodec codec, int blockBytes, int minRecordsToSurvey) {
        this.blocks = new BlockWriter(codec, blockBytes);
        this.survey = new BatchSurvey(minRecordsToSurvey, deduplicator);
        this.countingSort = new CountingSort(blockBytes);
    }

    /**
     * Returns an estimate of the memory that encoding needs in addition to the batches, at most, in
     * bytes: for the segment, and for sorting the records of one batch.
     */
    public static long workingBytes(List<LogBatch> batches) {
        long bytes = 0;
        int mostRecords = 0;
        for (LogBatch batch : batches) {
            bytes += batch.sizeBytes();
            mostRecords = Math.max(mostRecords, batch.recordCount());
        }
        return bytes + (long) WORKING_BYTES_PER_RECORD * mostRecords;
    }

    /**
     * Returns the size of the scratch memory that is retained between calls, in bytes; a few
     * megabytes at most.
     */
    public long keptBytes() {
        return blocks.keptBytes()
                + records.keptBytes()
                + deduplicator.keptBytes()
                + survey.keptBytes()
                + countingSort.keptBytes()
                + index.capacity()
                + header.capacity();
    }

    /**
     * Encodes batches of any changelogs, one frame each, in the given order.
     *
     * @param batches at least one; only read, so the caller still releases them, as soon as this
     *     method returns
     * @throws IllegalStateException if a batch was released already
     */
    public EncodedSegment encode(List<LogBatch> batches) {
        if (batches.isEmpty()) {
            throw new IllegalArgumentException("A segment needs at least one batch");
        }
        ByteChunks bytes = new ByteChunks();
        // A frame's header is known only when its blocks are written, so it is written behind them;
        // the runs bring the parts into the order of the file.
        long[] runs = new long[2 * (2 * batches.size() + 2)];
        long[] frameOffsets = new long[batches.size() + 1];
        header.clear();
        header.putLong(SegmentFormat.MAGIC);
        header.putInt(SegmentFormat.VERSION);
        bytes.append(header.bytes(), 0, header.length());
        runs[1] = bytes.length();
        int run = 2;
        try {
            for (int i = 0; i < batches.size(); i++) {
                frameOffsets[i] = bytes.length();
                encodeFrame(batches.get(i), bytes);
                long frameHeader = bytes.length();
                bytes.append(header.bytes(), 0, header.length());
                runs[run++] = frameHeader;
                runs[run++] = bytes.length();
                runs[run++] = frameOffsets[i];
                runs[run++] = frameHeader;
            }
        } finally {
            records.trim();
            deduplicator.trim();
            survey.trim();
            index.trim();
        }
        frameOffsets[batches.size()] = bytes.length();
        encodeDirectory(batches, frameOffsets);
        bytes.append(header.bytes(), 0, header.length());
        runs[run++] = frameOffsets[batches.size()];
        runs[run] = bytes.length();
        return new EncodedSegment(bytes, runs, frameOffsets);
    }

    /** Writes the blocks of a frame, and its header and index to {@link #header}. */
    private void encodeFrame(LogBatch batch, ByteChunks bytes) {
        long bodyStart = bytes.length();
        blocks.begin(batch.logId(), bytes);
        index.clear();
        int groups =
                survey.isBestLeftAsItIs(batch) ? encodeAll(batch) : encodeWithoutObsolete(batch);
        index.put(blocks.finish());
        encodeHeader(batch, groups, bytes.length() - bodyStart);
    }

    /** Returns the number of key groups. */
    private int encodeAll(LogBatch batch) {
        KeyGroupSizes sizes = survey.sizes();
        byte[][] sorted = countingSort.sort(batch, sizes);
        long left = countingSort.sortedBytes();
        for (int i = 0; i < sorted.length; i++) {
            byte[] block = sorted[i];
            // Spare or garbage if it was compressed, so plain and stored bytes together exceed the
            // batch by no more than a block and the spare ones.
            sorted[i] = null;
            int bytes = (int) Math.min(block.length, left);
            left -= bytes;
            if (!blocks.writeBlock(block, bytes)) {
                countingSort.reuse(block);
            }
        }
        int groups = 0;
        for (int keyGroup = -1; keyGroup <= sizes.highestKeyGroup(); keyGroup++) {
            if (sizes.records(keyGroup) > 0) {
                putKeyGroup(keyGroup, sizes.records(keyGroup), sizes.plainBytes(keyGroup));
                groups++;
            }
        }
        return groups;
    }

    /** Returns the number of key groups. */
    private int encodeWithoutObsolete(LogBatch batch) {
        records.scan(batch);
        BitSet obsolete = deduplicator.find(records);
        int[] order = records.orderByKeyGroup(obsolete);
        int kept = records.count() - obsolete.cardinality();
        int groups = 0;
        int i = 0;
        while (i < kept) {
            int groupStart = i;
            long plainStart = blocks.plainLength();
            int keyGroup = records.keyGroup(order[i]);
            while (i < kept && records.keyGroup(order[i]) == keyGroup) {
                blocks.writeRecord(
                        records.bytes(), records.position(order[i]), records.length(order[i]));
                i++;
            }
            putKeyGroup(keyGroup, i - groupStart, blocks.plainLength() - plainStart);
            groups++;
        }
        return groups;
    }

    private void putKeyGroup(int keyGroup, int recordCount, long plainBytes) {
        index.putVarint(keyGroup + 1);
        index.putVarint(recordCount);
        index.putVarlong(plainBytes);
    }

    private void encodeHeader(LogBatch batch, int groups, long storedBytes) {
        KeyGroupRange range = batch.keyGroupRange();
        header.clear();
        header.putInt(SegmentFormat.FRAME_MAGIC);
        header.putInt(SegmentFormat.VERSION);
        putBatch(batch);
        header.putInt(range.getStartKeyGroup());
        header.putInt(range.getEndKeyGroup() + 1);
        header.putLong(blocks.plainLength());
        header.putLong(storedBytes);
        header.putInt(blocks.blockBytes());
        header.putInt(groups);
        header.putInt(index.length());
        header.putInt(checksum(index));
        header.putInt(checksum(header));
        header.put(index);
    }

    private void encodeDirectory(List<LogBatch> batches, long[] frameOffsets) {
        header.clear();
        for (int i = 0; i < batches.size(); i++) {
            putBatch(batches.get(i));
            header.putLong(frameOffsets[i]);
            header.putLong(frameOffsets[i + 1] - frameOffsets[i]);
        }
        header.putLong(frameOffsets[batches.size()]);
        header.putInt(batches.size());
        header.putInt(checksum(header));
        header.putLong(SegmentFormat.TAIL_MAGIC);
    }

    private void putBatch(LogBatch batch) {
        UUID logId = batch.logId();
        header.putLong(logId.getMostSignificantBits());
        header.putLong(logId.getLeastSignificantBits());
        header.putLong(batch.sequence());
    }

    private int checksum(ByteSink sink) {
        checksum.reset();
        checksum.update(sink.bytes(), 0, sink.length());
        return (int) checksum.getValue();
    }
}
