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

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Reads a segment. Reads forward without seeking where possible, verifies everything it reads, and
 * names the file in every failure. A {@link SegmentCopy} that is damaged is replaced by its
 * original. Not thread-safe; closes what it opened.
 */
public final class SegmentReader implements BlockSource, Closeable {

    private final RetriedFile file;
    private final CRC32C checksum = new CRC32C();
    private final byte[] header = new byte[SegmentFormat.FRAME_HEADER_BYTES];
    private final long knownLength;

    /**
     * Creates a reader of a stream.
     *
     * @param file name of the segment in exceptions
     * @param stream at its start; owned by the reader
     * @param knownLength length of the file in bytes, {@link Long#MAX_VALUE} if unknown
     */
    SegmentReader(String file, FSDataInputStream stream, long knownLength) {
        this.file = RetriedFile.ofSegment(file, stream, ReadSession.ofRestore());
        this.knownLength = knownLength;
    }

    private SegmentReader(StreamStateHandle segment, ReadSession session, long knownLength) {
        boolean inMemory = knownLength != Long.MAX_VALUE;
        this.file = RetriedFile.ofSegment(segment, session, inMemory);
        this.knownLength = knownLength;
    }

    /**
     * Opens a segment, in a file or in memory, for a restore or a tool.
     *
     * @throws IOException if the segment does not exist or the store does not answer
     */
    public static SegmentReader open(StreamStateHandle handle) throws IOException {
        return open(handle, ReadSession.ofRestore());
    }

    /**
     * Opens a segment, in a file or in memory.
     *
     * @throws IOException if the segment does not exist or the store does not answer
     */
    public static SegmentReader open(StreamStateHandle handle, ReadSession session)
            throws IOException {
        Optional<byte[]> inMemory = handle.asBytesIfInMemory();
        long length = inMemory.isPresent() ? inMemory.get().length : Long.MAX_VALUE;
        SegmentReader reader = new SegmentReader(handle, session, length);
        try {
            reader.readUpTo(0, new byte[0], 0);
        } catch (Throwable t) {
            reader.close();
            throw t;
        }
        return reader;
    }

    /** Returns the name of a segment in exceptions. */
    public static String nameOf(StreamStateHandle handle) {
        return RetriedFile.nameOf(handle);
    }

    /**
     * Opens a file that a changelog needs, in any format.
     *
     * @throws IOException if the file does not exist or the store does not answer; the message
     *     names the fix
     */
    public static FSDataInputStream openStream(StreamStateHandle handle) throws IOException {
        try {
            return handle.openInputStream();
        } catch (IOException | RuntimeException e) {
            Path path = RetriedFile.pathOf(handle);
            boolean gone = FailedRead.isNotFound(e) || (path != null && FailedRead.isAbsent(path));
            throw FailedRead.explained(RetriedFile.SEGMENT, nameOf(handle), gone, e);
        }
    }

    /**
     * Reads and verifies the header of the frame at an offset.
     *
     * @throws CorruptSegmentException if there is no frame or a damaged one, or if the file is not
     *     a segment or has another format version
     */
    public FrameHeader frameAt(long offset) throws IOException {
        try {
            return readFrameHeader(offset);
        } catch (CorruptSegmentException damagedCopy) {
            if (!file.fallBackFromDamage(damagedCopy)) {
                throw damagedCopy;
            }
            return frameAt(offset);
        }
    }

    private FrameHeader readFrameHeader(long offset) throws IOException {
        int read = readUpTo(offset, header, header.length);
        ByteBuffer fields = ByteBuffer.wrap(header, 0, read);
        if (read < header.length
                || fields.getInt(0) != SegmentFormat.FRAME_MAGIC
                || fields.getInt(Integer.BYTES) != SegmentFormat.VERSION) {
            checkFileHeader();
            if (read < header.length) {
                throw endsEarly(offset, header.length, "a frame's header", read);
            }
            throw damage(
                    offset,
                    String.format(
                            "the beginning of a frame, %08x %08x",
                            SegmentFormat.FRAME_MAGIC, SegmentFormat.VERSION),
                    String.format("%08x %08x", fields.getInt(0), fields.getInt(Integer.BYTES)));
        }
        int headerChecksum = header.length - Integer.BYTES;
        verify(offset, "a frame's header", header, headerChecksum, fields.getInt(headerChecksum));
        int indexChecksum = headerChecksum - Integer.BYTES;
        int indexLength = fields.getInt(indexChecksum - Integer.BYTES);
        if (indexLength < 0) {
            throw damage(offset, "an index", "an index of " + indexLength + " bytes");
        }
        byte[] index = new byte[indexLength];
        long indexOffset = offset + header.length;
        read(indexOffset, index, indexLength, "a frame's index");
        verify(indexOffset, "a frame's index", index, indexLength, fields.getInt(indexChecksum));
        try {
            return FrameHeader.parse(offset, fields, ByteBuffer.wrap(index));
        } catch (IllegalArgumentException e) {
            throw damage(
                    offset,
                    "a header and an index that agree",
                    "a contradiction about the " + e.getMessage());
        }
    }

    /**
     * Verifies the header of the file.
     *
     * @throws CorruptSegmentException if the file is not a segment or has another format version
     */
    void checkFileHeader() throws IOException {
        byte[] fileHeader = new byte[SegmentFormat.HEADER_BYTES];
        int read = readUpTo(0, fileHeader, fileHeader.length);
        if (read == 0) {
            throw CorruptSegmentException.foreign(file.name(), "an empty file");
        }
        ByteBuffer fields = ByteBuffer.wrap(fileHeader);
        if (fields.getLong() != SegmentFormat.MAGIC) {
            byte[] magic = Arrays.copyOf(fileHeader, Math.min(read, Long.BYTES));
            throw CorruptSegmentException.foreign(file.name(), hex(magic));
        }
        if (read < fileHeader.length) {
            throw endsEarly(0, fileHeader.length, "a segment's header", read);
        }
        int version = fields.getInt();
        if (version != SegmentFormat.VERSION) {
            throw CorruptSegmentException.otherVersion(file.name(), version);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte value : bytes) {
            text.append(String.format("%02x ", value));
        }
        return text.toString().trim();
    }

    @Override
    public void readBlock(FrameHeader frame, int block, byte[] target) throws IOException {
        try {
            readAndVerify(frame, block, target);
        } catch (CorruptSegmentException damagedCopy) {
            if (!file.fallBackFromDamage(damagedCopy)) {
                throw damagedCopy;
            }
            readBlock(frame, block, target);
        }
    }

    private void readAndVerify(FrameHeader frame, int block, byte[] target) throws IOException {
        long offset = frame.blockOffset(block);
        int count = frame.blockLength(block);
        read(offset, target, count, "a block");
        verify(offset, "a block", target, count, frame.blockChecksum(block));
    }

    /** Reads {@code [offset, offset + count)} of the file to the start of {@code target}. */
    void read(long offset, byte[] target, int count, String what) throws IOException {
        int read = readUpTo(offset, target, count);
        if (read < count) {
            throw endsEarly(offset, count, what, read);
        }
    }

    private int readUpTo(long offset, byte[] target, int count) throws IOException {
        return offset < knownLength ? file.read(offset, target, count) : 0;
    }

    /**
     * Verifies the checksum of the first {@code count} bytes, which were read at {@code offset}.
     */
    void verify(long offset, String what, byte[] bytes, int count, int expected)
            throws CorruptSegmentException {
        checksum.reset();
        checksum.update(bytes, 0, count);
        int found = (int) checksum.getValue();
        if (found != expected) {
            throw damage(
                    offset,
                    String.format("%s with CRC32C %08x", what, expected),
                    String.format("%08x", found));
        }
    }

    @Override
    public CorruptSegmentException damaged(long offset, String expected, String found) {
        // A copy with these checksums is what the original is.
        file.countAsUnreadable();
        return damage(offset, expected, found);
    }

    @Override
    public CorruptSegmentException unknownCode(long offset, String expected, String found) {
        file.countAsUnreadable();
        return CorruptSegmentException.unknownCode(file.name(), offset, expected, found);
    }

    private CorruptSegmentException damage(long offset, String expected, String found) {
        return CorruptSegmentException.damaged(file.name(), offset, expected, found);
    }

    private CorruptSegmentException endsEarly(long offset, int count, String what, int read) {
        return damage(
                offset,
                String.format("%s of %d bytes", what, count),
                String.format("the end of the file after %d bytes", read));
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
