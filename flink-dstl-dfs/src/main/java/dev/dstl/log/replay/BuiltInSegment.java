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

package dev.dstl.log.replay;

import dev.dstl.log.api.StoreException;
import dev.dstl.log.segment.BoundedSeek;
import dev.dstl.log.segment.CorruptSegmentException;
import dev.dstl.log.segment.SegmentReader;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * One file of Flink's storage {@code filesystem}, read forward. Offsets count decompressed bytes
 * after the first byte of the file. Not thread-safe.
 *
 * <pre>
 *   file        compressed (1 byte: 0 no, 1 Snappy) | change sets, one behind the other
 *   change set  groups (4) | group ...
 *   group       changes (4) | key group (4), -1 with metadata | change ...
 *   change      length (4) | bytes
 * </pre>
 *
 * <p>Integers are big-endian. A handle names each change set by its offset.
 */
final class BuiltInSegment implements Closeable {

    private static final int BUFFER_BYTES = 64 << 10;

    private final String file;
    private final FSDataInputStream stream;
    private final Source source;
    private final byte[] integer = new byte[Integer.BYTES];
    private boolean compressed;
    private InputStream content;
    private long position;

    private BuiltInSegment(String file, FSDataInputStream stream) {
        this.file = file;
        this.stream = stream;
        this.source = new Source(stream);
    }

    /**
     * Opens a file before its first change set.
     *
     * @throws IOException if the file does not exist or cannot be read
     */
    static BuiltInSegment open(StreamStateHandle handle) throws IOException {
        BuiltInSegment segment =
                new BuiltInSegment(SegmentReader.nameOf(handle), SegmentReader.openStream(handle));
        try {
            segment.start();
            return segment;
        } catch (Throwable t) {
            segment.close();
            throw t;
        }
    }

    private void start() throws IOException {
        int flag = firstByte();
        if (flag != 0 && flag != 1) {
            throw CorruptSegmentException.damaged(
                    file,
                    0,
                    "0 or 1, whether the file is compressed",
                    flag < 0 ? "an empty file" : Integer.toString(flag));
        }
        compressed = flag == 1;
        content = new BufferedInputStream(source, BUFFER_BYTES);
        if (compressed) {
            try {
                content =
                        SnappyStreamCompressionDecorator.INSTANCE.decorateWithCompression(content);
            } catch (IOException e) {
                throw explained(e);
            }
        }
    }

    private int firstByte() throws IOException {
        try {
            return source.read();
        } catch (IOException e) {
            throw explained(e);
        }
    }

    /** Returns whether {@link #moveTo} reaches an offset without reopening the file. */
    boolean reaches(long offset) {
        return !compressed || offset >= position;
    }

    /** Moves to an offset. */
    void moveTo(long offset) throws IOException {
        if (offset == position) {
            return;
        }
        if (compressed) {
            skip(offset - position, "a state change set at " + offset);
        } else {
            if (!reached(1 + offset)) {
                throw damaged(offset, "a state change set", "the end of the file before it");
            }
            content = new BufferedInputStream(source, BUFFER_BYTES);
            position = offset;
        }
    }

    private boolean reached(long fileOffset) throws IOException {
        try {
            return BoundedSeek.move(stream, fileOffset);
        } catch (EOFException someStoresSaySo) {
            return false;
        } catch (IOException | RuntimeException e) {
            source.failure = e;
            throw explained(new IOException(e));
        }
    }

    int readInt(String what) throws IOException {
        read(integer, 0, integer.length, what);
        return (integer[0] & 0xFF) << 24
                | (integer[1] & 0xFF) << 16
                | (integer[2] & 0xFF) << 8
                | (integer[3] & 0xFF);
    }

    /** Reads an integer that must not be negative. */
    int readCount(String what) throws IOException {
        int count = readInt(what);
        if (count < 0) {
            throw damaged(position - Integer.BYTES, what, Integer.toString(count));
        }
        return count;
    }

    void read(byte[] target, int offset, int length, String what) throws IOException {
        int read = 0;
        while (read < length) {
            int count = readSome(target, offset + read, length - read);
            if (count < 0) {
                throw endsEarly(what, length, read);
            }
            read += count;
            position += count;
        }
    }

    private int readSome(byte[] target, int offset, int length) throws IOException {
        try {
            return content.read(target, offset, length);
        } catch (EOFException e) {
            return -1;
        } catch (IOException e) {
            throw explained(e);
        }
    }

    /** Distinguishes failures of the store from those of the decompressor. */
    private IOException explained(IOException failure) {
        return source.failure != null
                ? StoreException.of(
                        String.format(
                                "Segment %s cannot be read: %s",
                                file, StoreException.describe(source.failure)),
                        source.failure)
                : damaged(position, "Snappy frames", String.valueOf(failure.getMessage()));
    }

    void skip(long count, String what) throws IOException {
        byte[] skipped = new byte[(int) Math.min(count, BUFFER_BYTES)];
        long left = count;
        while (left > 0) {
            int next = (int) Math.min(left, skipped.length);
            read(skipped, 0, next, what);
            left -= next;
        }
    }

    private CorruptSegmentException endsEarly(String what, int length, int read) {
        return damaged(
                position - read,
                String.format("%s of %d bytes", what, length),
                String.format("the end of the file after %d bytes", read));
    }

    private CorruptSegmentException damaged(long at, String expected, String found) {
        return CorruptSegmentException.damaged(file, 1 + at, expected, found);
    }

    @Override
    public void close() throws IOException {
        try {
            try {
                if (content != null) {
                    content.close();
                }
            } finally {
                stream.close();
            }
        } catch (IOException | RuntimeException e) {
            throw StoreException.of(
                    String.format("Segment %s: %s", file, StoreException.describe(e)), e);
        }
    }

    /** Remembers failures of the store; does not pass on {@code close()}. */
    private static final class Source extends FilterInputStream {

        @Nullable private Exception failure;

        Source(InputStream stream) {
            super(stream);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                return in.read(target, offset, length);
            } catch (IOException e) {
                failure = e;
                throw e;
            } catch (RuntimeException e) {
                failure = e;
                throw new IOException(e);
            }
        }

        @Override
        public void close() {}
    }
}
