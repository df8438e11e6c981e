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
import dev.dstl.log.batch.PagedBytes;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.flink.runtime.io.compression.BlockCompressor;

/**
 * Collects plain bytes into blocks, compresses and checksums them, and writes their index entries.
 * Not thread-safe; reuses its memory for every frame.
 */
final class BlockWriter {

    private static final int MAX_VARINT_BYTES = 5;

    /**
     * Divisor of a block's size below which savings are negligible: LZ4 takes 1.3 ns per byte, so
     * it spends more than 10 ns on each byte saved, and a request at 100 MB/s sends a byte in that
     * time.
     */
    private static final int WORTHWHILE_SHARE = 8;

    private final BlockCompressor compressor;
    private final int blockBytes;
    private final byte[] compressed;
    private final byte[] varint = new byte[MAX_VARINT_BYTES];
    private final CRC32C checksum = new CRC32C();
    private final ByteSink index = new ByteSink();

    private byte[] plain;
    private ByteChunks target;
    private int filled;
    private long plainLength;

    private final CompressionTrials compression = new CompressionTrials();
    private CompressionTrials.Trials trials;

    BlockWriter(SegmentCodec codec, int blockBytes) {
        this.blockBytes = blockBytes;
        this.plain = new byte[blockBytes];
        if (codec == SegmentCodec.NONE) {
            this.compressor = null;
            this.compressed = new byte[0];
        } else {
            this.compressor = SegmentCodec.lz4Compressor();
            this.compressed = new byte[compressor.getMaxCompressedSize(blockBytes)];
        }
    }

    int blockBytes() {
        return blockBytes;
    }

    long keptBytes() {
        return (long) plain.length + compressed.length + index.capacity() + compression.keptBytes();
    }

    /** Starts a frame of a changelog, whose blocks are appended to {@code chunks}. */
    void begin(UUID logId, ByteChunks chunks) {
        target = chunks;
        trials = compression.of(logId);
        filled = 0;
        plainLength = 0;
        index.clear();
    }

    /** Writes a record, preceded by its length. */
    void writeRecord(PagedBytes source, long position, int length) {
        if (length <= blockBytes - MAX_VARINT_BYTES - filled) {
            int start = filled;
            int at = RecordFormat.writeVarint(plain, start, length);
            source.copyTo(position, plain, at, length);
            filled = at + length;
            plainLength += filled - start;
        } else {
            int varintLength = RecordFormat.writeVarint(varint, 0, length);
            writeAcrossBlocks(varintLength, source, position, length);
            plainLength += varintLength + length;
        }
    }

    private void writeAcrossBlocks(int varintLength, PagedBytes source, long position, int length) {
        for (int i = 0; i < varintLength; i++) {
            flushIfFull();
            plain[filled++] = varint[i];
        }
        long from = position;
        int left = length;
        while (left > 0) {
            flushIfFull();
            int part = Math.min(left, blockBytes - filled);
            source.copyTo(from, plain, filled, part);
            filled += part;
            from += part;
            left -= part;
        }
    }

    /** Returns the number of plain bytes since {@link #begin}. */
    long plainLength() {
        return plainLength;
    }

    /**
     * Writes the last block.
     *
     * @return index entries of all blocks since {@link #begin}; valid until the next call of it
     */
    ByteSink finish() {
        if (filled > 0) {
            flush();
        }
        target = null;
        trials = null;
        return index;
    }

    private void flushIfFull() {
        if (filled == blockBytes) {
            flush();
        }
    }

    private void flush() {
        if (store(plain, filled)) {
            plain = new byte[blockBytes];
        }
        filled = 0;
    }

    /**
     * Writes a whole block. Nothing else may have been written since {@link #begin} but whole
     * blocks of the full size.
     *
     * @param block filled up to {@code bytes}
     * @return whether the segment now owns the array, so that the caller must not use it any more
     */
    boolean writeBlock(byte[] block, int bytes) {
        plainLength += bytes;
        return store(block, bytes);
    }

    /** Returns whether the segment now owns the array. */
    private boolean store(byte[] block, int bytes) {
        SegmentCodec codec = SegmentCodec.NONE;
        byte[] stored = block;
        int storedLength = bytes;
        if (compressor != null && trials.isDue()) {
            int length = compressor.compress(block, 0, bytes, compressed, 0);
            if (length < bytes) {
                codec = SegmentCodec.LZ4;
                stored = compressed;
                storedLength = length;
            }
            trials.tried(length <= bytes - bytes / WORTHWHILE_SHARE);
        }
        checksum.reset();
        checksum.update(stored, 0, storedLength);
        index.putByte(codec.code());
        index.putVarint(storedLength);
        index.putInt((int) checksum.getValue());
        boolean adopted = stored == block && bytes > block.length / 2;
        if (adopted) {
            target.adopt(block, bytes);
        } else {
            target.append(stored, 0, storedLength);
        }
        return adopted;
    }
}
