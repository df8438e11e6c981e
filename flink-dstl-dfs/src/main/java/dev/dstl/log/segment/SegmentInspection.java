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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Reads a whole segment: accounts for every byte, verifies every checksum and reads every record.
 * For tools, and independent of any checkpoint.
 */
public final class SegmentInspection {

    private static final KeyGroupRange ALL_KEY_GROUPS = KeyGroupRange.of(0, Integer.MAX_VALUE - 1);

    private final List<FrameHeader> frames;
    private final long recordCount;

    private SegmentInspection(List<FrameHeader> frames, long recordCount) {
        this.frames = frames;
        this.recordCount = recordCount;
    }

    /**
     * Reads and verifies a whole segment.
     *
     * @param file name of the segment in exceptions
     * @param stream closed by this method
     * @param length length of the file in bytes
     * @throws CorruptSegmentException if any byte deviates from {@code SegmentFormat}
     */
    public static SegmentInspection inspect(String file, FSDataInputStream stream, long length)
            throws IOException {
        return inspect(file, stream, length, (frame, record) -> {});
    }

    /**
     * Reads and verifies a whole segment, and passes its records to a visitor.
     *
     * @param file name of the segment in exceptions
     * @param stream closed by this method
     * @param length length of the file in bytes
     * @param visitor receives every record; of a damaged segment, those before the damage
     * @throws CorruptSegmentException if any byte deviates from {@code SegmentFormat}
     */
    public static SegmentInspection inspect(
            String file, FSDataInputStream stream, long length, SegmentVisitor visitor)
            throws IOException {
        try (SegmentReader reader = new SegmentReader(file, stream, length);
                FrameCursor cursor = new FrameCursor()) {
            reader.checkFileHeader();
            ByteBuffer tail = tail(reader, length);
            long directoryOffset = tail.getLong();
            int frameCount = tail.getInt();
            int directoryLength = directoryLength(reader, directoryOffset, frameCount, length);
            // The tail's checksum covers the directory and the fields before it in the tail.
            byte[] directory = new byte[directoryLength + Long.BYTES + Integer.BYTES];
            reader.read(directoryOffset, directory, directory.length, "a directory");
            reader.verify(
                    directoryOffset, "a directory", directory, directory.length, tail.getInt());

            ByteBuffer entries = ByteBuffer.wrap(directory, 0, directoryLength);
            List<FrameHeader> frames = new ArrayList<>();
            LogRecord record = new LogRecord();
            long recordCount = 0;
            long expectedOffset = SegmentFormat.HEADER_BYTES;
            for (int i = 0; i < frameCount; i++) {
                FrameHeader frame = reader.frameAt(expectedOffset);
                checkEntry(reader, frame, entries, directoryOffset + entries.position());
                cursor.start(reader, frame, ALL_KEY_GROUPS);
                while (cursor.next(record)) {
                    visitor.visit(frame, record);
                    recordCount++;
                }
                frames.add(frame);
                expectedOffset += frame.length();
            }
            if (expectedOffset != directoryOffset) {
                throw reader.damaged(
                        directoryOffset,
                        "a directory at byte " + expectedOffset,
                        "it here, which leaves bytes that belong to no frame");
            }
            return new SegmentInspection(Collections.unmodifiableList(frames), recordCount);
        }
    }

    private static ByteBuffer tail(SegmentReader reader, long length) throws IOException {
        byte[] bytes = new byte[SegmentFormat.TAIL_BYTES];
        long offset = Math.max(SegmentFormat.HEADER_BYTES, length - SegmentFormat.TAIL_BYTES);
        reader.read(offset, bytes, bytes.length, "a tail");
        ByteBuffer tail = ByteBuffer.wrap(bytes);
        long magic = tail.getLong(bytes.length - Long.BYTES);
        if (magic != SegmentFormat.TAIL_MAGIC) {
            throw reader.damaged(
                    offset + bytes.length - Long.BYTES,
                    String.format("the magic bytes of a tail, %016x", SegmentFormat.TAIL_MAGIC),
                    String.format("%016x", magic));
        }
        return tail;
    }

    private static int directoryLength(
            SegmentReader reader, long directoryOffset, int frameCount, long length)
            throws CorruptSegmentException {
        long directoryLength = length - SegmentFormat.TAIL_BYTES - directoryOffset;
        if (directoryLength != (long) frameCount * SegmentFormat.DIRECTORY_ENTRY_BYTES
                || directoryLength > Integer.MAX_VALUE - SegmentFormat.TAIL_BYTES) {
            throw reader.damaged(
                    length - SegmentFormat.TAIL_BYTES,
                    "a directory of " + frameCount + " frames",
                    directoryLength + " bytes at byte " + directoryOffset);
        }
        return (int) directoryLength;
    }

    private static void checkEntry(
            SegmentReader reader, FrameHeader frame, ByteBuffer entry, long entryOffset)
            throws CorruptSegmentException {
        UUID logId = new UUID(entry.getLong(), entry.getLong());
        long sequence = entry.getLong();
        long offset = entry.getLong();
        long length = entry.getLong();
        if (!logId.equals(frame.logId())
                || sequence != frame.sequence()
                || offset != frame.offset()
                || length != frame.length()) {
            throw reader.damaged(
                    entryOffset,
                    "the directory to say "
                            + entry(
                                    frame.logId(),
                                    frame.sequence(),
                                    frame.offset(),
                                    frame.length()),
                    entry(logId, sequence, offset, length));
        }
    }

    private static String entry(UUID logId, long sequence, long offset, long length) {
        return String.format(
                "changelog %s, sequence %d, offset %d, length %d", logId, sequence, offset, length);
    }

    /** Returns the headers of all frames, in file order. */
    public List<FrameHeader> frames() {
        return frames;
    }

    /** Returns the number of records in all frames. */
    public long recordCount() {
        return recordCount;
    }
}
