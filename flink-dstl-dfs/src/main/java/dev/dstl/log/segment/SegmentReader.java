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

import dev.dstl.log.store.StoreException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a segment. Reads forward without seeking where possible, verifies everything it reads, and
 * names the file in every failure. The session decides about retries; a missing or damaged {@link
 * SegmentCopy} is replaced by its original. Not thread-safe; owns the stream and closes it.
 */
public final class SegmentReader implements BlockSource, Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(SegmentReader.class);

    private final ReadSession session;
    private final CRC32C checksum = new CRC32C();
    private final byte[] header = new byte[SegmentFormat.FRAME_HEADER_BYTES];
    private final long knownLength;

    /**
     * The segment, or its copy until that fails. Null if the stream was given and cannot be
     * reopened.
     */
    @Nullable private StreamStateHandle segment;

    /** Where the stream reads from: the segment or its copy. */
    @Nullable private StreamStateHandle source;

    private String file;

    /** Null before the first read, and after a failure. */
    @Nullable private SegmentStream stream;

    /** Runs the requests; null if the reading thread runs them itself. */
    @Nullable private final RequestThread requests;

    /** Replaced when a request is abandoned, since its thread may still write into it. */
    private byte[] buffer = new byte[0];

    /**
     * Creates a reader of a stream.
     *
     * @param file name of the segment in exceptions
     * @param stream at its start; owned by the reader
     * @param knownLength length of the file in bytes, {@link Long#MAX_VALUE} if unknown
     */
    SegmentReader(String file, FSDataInputStream stream, long knownLength) {
        this.session = ReadSession.ofRestore();
        this.segment = null;
        this.file = file;
        this.stream = new SegmentStream(stream, session);
        this.requests = null;
        this.knownLength = knownLength;
    }

    private SegmentReader(StreamStateHandle segment, ReadSession session, long knownLength) {
        this.session = session;
        this.segment = segment;
        this.source = sourceOf(segment);
        this.file = nameOf(source);
        this.knownLength = knownLength;
        boolean inMemory = knownLength != Long.MAX_VALUE;
        this.requests = session.isPatienceLimited() && !inMemory ? new RequestThread() : null;
    }

    private static StreamStateHandle sourceOf(StreamStateHandle segment) {
        return segment instanceof SegmentCopy ? ((SegmentCopy) segment).copy() : segment;
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
        Path path = pathOf(handle);
        return path == null ? handle.toString() : path.toString();
    }

    @Nullable
    private static Path pathOf(@Nullable StreamStateHandle handle) {
        return handle instanceof FileStateHandle ? ((FileStateHandle) handle).getFilePath() : null;
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
            Path path = pathOf(handle);
            boolean gone = FailedRead.isNotFound(e) || (path != null && FailedRead.isAbsent(path));
            throw FailedRead.explained(nameOf(handle), gone, e);
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
            if (!fallBack(damagedCopy)) {
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
            throw damaged(
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
            throw damaged(offset, "an index", "an index of " + indexLength + " bytes");
        }
        byte[] index = new byte[indexLength];
        long indexOffset = offset + header.length;
        read(indexOffset, index, indexLength, "a frame's index");
        verify(indexOffset, "a frame's index", index, indexLength, fields.getInt(indexChecksum));
        try {
            return FrameHeader.parse(offset, fields, ByteBuffer.wrap(index));
        } catch (IllegalArgumentException e) {
            throw damaged(
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
            throw CorruptSegmentException.foreign(file, "an empty file");
        }
        ByteBuffer fields = ByteBuffer.wrap(fileHeader);
        if (fields.getLong() != SegmentFormat.MAGIC) {
            byte[] magic = Arrays.copyOf(fileHeader, Math.min(read, Long.BYTES));
            throw CorruptSegmentException.foreign(file, hex(magic));
        }
        if (read < fileHeader.length) {
            throw endsEarly(0, fileHeader.length, "a segment's header", read);
        }
        int version = fields.getInt();
        if (version != SegmentFormat.VERSION) {
            throw CorruptSegmentException.otherVersion(file, version);
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
            if (!fallBack(damagedCopy)) {
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
        if (offset >= knownLength) {
            return 0;
        }
        int failures = 0;
        boolean mayRetryEarly = true;
        while (true) {
            try {
                return tryRead(offset, target, count, failures, mayRetryEarly);
            } catch (SlowRequestException slow) {
                mayRetryEarly = false;
                session.retriedEarly();
            } catch (IOException | RuntimeException e) {
                // File systems also throw what their clients throw.
                if (Thread.currentThread().isInterrupted() || session.isGivenUp()) {
                    throw e;
                }
                if (fallBack(e)) {
                    failures = 0;
                } else {
                    prepareRetry(++failures, e);
                }
            }
        }
    }

    private int tryRead(long offset, byte[] target, int count, int failures, boolean mayRetryEarly)
            throws IOException {
        session.begin(segment);
        try {
            if (stream == null) {
                stream = new SegmentStream(source, session);
            }
            return requests == null
                    ? stream.read(offset, target, count)
                    : readElsewhere(offset, target, count, failures, mayRetryEarly);
        } finally {
            session.end();
        }
    }

    private int readElsewhere(
            long offset, byte[] target, int count, int failures, boolean mayRetryEarly)
            throws IOException {
        if (buffer.length < count) {
            buffer = new byte[count];
        }
        SegmentStream reading = stream;
        byte[] filled = buffer;
        long patienceMillis = session.patienceMillis(failures);
        long earlyRetryMillis = mayRetryEarly ? session.earlyRetryMillis() : Long.MAX_VALUE;
        long startNanos = System.nanoTime();
        try {
            int read =
                    requests.call(
                            () -> reading.read(offset, filled, count),
                            Math.min(patienceMillis, earlyRetryMillis),
                            reading::progress);
            session.answered(System.nanoTime() - startNanos);
            System.arraycopy(filled, 0, target, 0, read);
            return read;
        } catch (ReadTimeoutException e) {
            leaveBehind();
            if (earlyRetryMillis < patienceMillis) {
                throw new SlowRequestException();
            }
            String what =
                    String.format(
                            "no byte at offset %d for %d s in try %d",
                            offset, TimeUnit.MILLISECONDS.toSeconds(patienceMillis), failures + 1);
            LOG.warn("Reading {} gave {}; the read is abandoned", file, what);
            throw new ReadTimeoutException(what);
        } catch (InterruptedIOException e) {
            leaveBehind();
            throw e;
        }
    }

    /** A request is slow; the next one is likely not to be. */
    private static final class SlowRequestException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /** Replaces stream and buffer, which the thread of an abandoned request may still hold. */
    private void leaveBehind() {
        SegmentStream left = stream;
        stream = null;
        buffer = new byte[0];
        left.abandon();
    }

    /** Switches from a failed copy to the original; returns whether there was one to switch to. */
    private boolean fallBack(Exception cause) {
        if (!(segment instanceof SegmentCopy)) {
            return false;
        }
        SegmentCopy copy = (SegmentCopy) segment;
        copy.failed();
        disconnect();
        segment = copy.original();
        source = sourceOf(segment);
        if (!(cause instanceof RecentSegment.NotKeptException)) {
            LOG.info(
                    "The local copy {} cannot be read, {} is read instead: {}",
                    file,
                    nameOf(source),
                    cause.toString());
        }
        file = nameOf(source);
        return true;
    }

    private void prepareRetry(int failures, Exception cause) throws IOException {
        boolean hung = cause instanceof ReadTimeoutException;
        boolean gone = FailedRead.isNotFound(cause) || (!hung && isAbsent());
        if (segment == null || gone || !session.retries(failures)) {
            if (segment != null) {
                session.failed(segment);
            }
            throw FailedRead.explained(file, gone, cause);
        }
        disconnect();
        session.pause(failures);
    }

    private void disconnect() {
        try {
            close();
        } catch (IOException | RuntimeException e) {
            LOG.debug("Could not close {}, of which a read failed", file, e);
        }
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
            throw damaged(
                    offset,
                    String.format("%s with CRC32C %08x", what, expected),
                    String.format("%08x", found));
        }
    }

    @Override
    public CorruptSegmentException damaged(long offset, String expected, String found) {
        return CorruptSegmentException.damaged(file, offset, expected, found);
    }

    private CorruptSegmentException endsEarly(long offset, int count, String what, int read) {
        return damaged(
                offset,
                String.format("%s of %d bytes", what, count),
                String.format("the end of the file after %d bytes", read));
    }

    private boolean isAbsent() throws IOException {
        Path path = pathOf(source);
        if (path == null) {
            return false;
        }
        session.begin(segment);
        try {
            return requests == null
                    ? FailedRead.isAbsent(path)
                    : requests.call(
                            () -> FailedRead.isAbsent(path), session.patienceMillis(0), () -> 0);
        } catch (ReadTimeoutException noAnswer) {
            return false;
        } finally {
            session.end();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            if (stream != null) {
                closeStream();
            }
        } catch (IOException | RuntimeException e) {
            throw StoreException.of(
                    String.format("Segment %s: %s", file, StoreException.describe(e)), e);
        } finally {
            if (requests != null) {
                requests.end();
            }
        }
    }

    private void closeStream() throws IOException {
        SegmentStream closing = stream;
        stream = null;
        if (requests == null) {
            closing.close();
            return;
        }
        try {
            requests.call(
                    () -> {
                        closing.close();
                        return null;
                    },
                    session.patienceMillis(0),
                    () -> 0);
        } catch (ReadTimeoutException | InterruptedIOException nobodyWaits) {
            closing.abandon();
        } catch (IOException maybeNotStarted) {
            closing.abandon();
            throw maybeNotStarted;
        }
    }
}
