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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.UnknownRecordKindException;
import java.io.IOException;
import org.apache.flink.runtime.io.compression.BlockDecompressor;
import org.apache.flink.runtime.io.compression.BufferDecompressionException;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Iterates over the records of one frame after the other. Reads and decompresses only the blocks of
 * the requested key groups, one at a time. Not thread-safe; keeps its memory from frame to frame.
 * Does not own the segment it reads.
 */
public final class FrameCursor implements RecordCursor {

    private final BlockDecompressor lz4 = SegmentCodec.lz4Decompressor();

    private byte[] stored = new byte[0];
    private byte[] plain = new byte[0];

    /** Holds a record that spans two blocks. */
    private byte[] straddling = new byte[0];

    private BlockSource segment;
    private FrameHeader frame;
    private KeyGroupRange wanted;

    /** Index position of the current key group. */
    private int place;

    private int recordsLeft;

    /** Position of the next plain byte. */
    private long at;

    /** The range of plain bytes in {@link #plain}, {@code [blockStart, blockEnd)}. */
    private long blockStart;

    private long blockEnd;

    /**
     * Moves to the start of a frame.
     *
     * @param reader must stay open as long as this cursor is used
     * @param header of a frame in that segment
     * @param keyGroups key groups to read, in addition to records without a key group
     */
    public void start(SegmentReader reader, FrameHeader header, KeyGroupRange keyGroups) {
        begin(reader, header, keyGroups);
    }

    /**
     * Moves to the start of a frame that is in memory.
     *
     * @param keyGroups the same that the frame was fetched for
     */
    public void start(FetchedFrame fetched, KeyGroupRange keyGroups) {
        begin(fetched, fetched.header(), keyGroups);
    }

    private void begin(BlockSource source, FrameHeader header, KeyGroupRange keyGroups) {
        segment = source;
        frame = header;
        wanted = keyGroups;
        place = -1;
        recordsLeft = 0;
        at = 0;
        blockStart = 0;
        blockEnd = 0;
    }

    @Override
    public boolean next(LogRecord record) throws IOException {
        while (recordsLeft == 0) {
            if (!nextKeyGroup()) {
                return false;
            }
        }
        recordsLeft--;
        int length = readLength();
        long left = frame.plainStart(place + 1) - at;
        if (length < 0 || length > left || (recordsLeft == 0 && length != left)) {
            throw damagedRecord(length + " bytes, with " + left + " left in the key group");
        }
        try {
            if (length <= blockEnd - at) {
                record.wrap(frame.keyGroup(place), plain, (int) (at - blockStart), length);
                at += length;
            } else {
                assemble(length);
                record.wrap(frame.keyGroup(place), straddling, 0, length);
            }
        } catch (UnknownRecordKindException e) {
            throw segment.unknownCode(frame.offset(), expectedRecords(), e.getMessage());
        } catch (IllegalArgumentException e) {
            throw damagedRecord(e.getMessage());
        }
        return true;
    }

    private boolean nextKeyGroup() {
        while (++place < frame.keyGroupCount()) {
            int keyGroup = frame.keyGroup(place);
            if (keyGroup < 0 || wanted.contains(keyGroup)) {
                recordsLeft = frame.recordCount(place);
                at = frame.plainStart(place);
                return true;
            }
        }
        place--;
        return false;
    }

    private int readLength() throws IOException {
        int value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            ensureBlock();
            byte next = plain[(int) (at++ - blockStart)];
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        return -1;
    }

    private void assemble(int length) throws IOException {
        if (straddling.length < length) {
            straddling = new byte[length];
        }
        int filled = 0;
        while (filled < length) {
            ensureBlock();
            int part = (int) Math.min(length - filled, blockEnd - at);
            System.arraycopy(plain, (int) (at - blockStart), straddling, filled, part);
            filled += part;
            at += part;
        }
    }

    /** Loads the block of the next plain byte into {@link #plain}. */
    private void ensureBlock() throws IOException {
        if (at < blockStart || at >= blockEnd) {
            if (at >= frame.plainLength()) {
                throw damagedRecord("the end of the frame");
            }
            load((int) (at / frame.blockBytes()));
        }
    }

    private void load(int block) throws IOException {
        long offset = frame.blockOffset(block);
        int storedLength = frame.blockLength(block);
        int plainLength = frame.blockPlainLength(block);
        if (plain.length < plainLength) {
            plain = new byte[plainLength];
        }
        // The content of the buffer is invalid until it is verified.
        blockStart = 0;
        blockEnd = 0;
        byte codec = frame.blockCodec(block);
        if (codec == SegmentCodec.NONE.code() && storedLength == plainLength) {
            segment.readBlock(frame, block, plain);
        } else if (codec == SegmentCodec.LZ4.code()) {
            if (stored.length < storedLength) {
                stored = new byte[storedLength];
            }
            segment.readBlock(frame, block, stored);
            decompress(offset, plainLength);
        } else {
            String expected = "a block of " + plainLength + " plain bytes";
            String found = String.format("codec %d and %d stored bytes", codec, storedLength);
            throw codec == SegmentCodec.NONE.code()
                    ? segment.damaged(offset, expected, found)
                    : segment.unknownCode(offset, expected, found);
        }
        blockStart = (long) block * frame.blockBytes();
        blockEnd = blockStart + plainLength;
    }

    private void decompress(long offset, int plainLength) throws CorruptSegmentException {
        int found;
        try {
            found = lz4.decompress(stored, 0, stored.length, plain, 0);
        } catch (BufferDecompressionException e) {
            throw segment.damaged(offset, "an LZ4 block", "bytes that do not decompress");
        }
        if (found != plainLength) {
            throw segment.damaged(
                    offset, "a block of " + plainLength + " plain bytes", found + " bytes");
        }
    }

    private CorruptSegmentException damagedRecord(String found) {
        return segment.damaged(frame.offset(), expectedRecords(), found);
    }

    private String expectedRecords() {
        return String.format("records of key group %d in the frame", frame.keyGroup(place));
    }

    /**
     * Verifies that the frame is the next one of an order.
     *
     * @throws CorruptSegmentException if it is not
     */
    public void verifyPlace(FrameOrder order) throws CorruptSegmentException {
        String expected = order.next(frame.origin());
        if (expected != null) {
            throw segment.damaged(frame.offset(), expected, frame.origin().toString());
        }
    }

    /** Forgets the frame; the segment stays open. */
    @Override
    public void close() {
        segment = null;
        frame = null;
    }
}
