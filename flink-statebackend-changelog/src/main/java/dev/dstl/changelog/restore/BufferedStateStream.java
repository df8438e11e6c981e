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

package dev.dstl.changelog.restore;

import java.io.IOException;
import java.util.Objects;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * Reads a stream in large chunks. Delegates read snapshots field by field and strings byte by byte,
 * and a file system may make a system call for each read. Used by one thread; closing it also
 * closes the underlying stream, from any thread.
 */
final class BufferedStateStream extends FSDataInputStream {

    private final FSDataInputStream stream;
    private final byte[] buffer;

    /** Position in the stream after the last byte of the buffer. */
    private long end;

    private int next;
    private int limit;

    /**
     * Creates a buffered stream.
     *
     * @param stream read from its current position; closed with this stream
     * @param bufferBytes at least 1
     */
    BufferedStateStream(FSDataInputStream stream, int bufferBytes) throws IOException {
        this.stream = stream;
        this.buffer = new byte[bufferBytes];
        this.end = stream.getPos();
    }

    @Override
    public long getPos() {
        return end - limit + next;
    }

    @Override
    public void seek(long position) throws IOException {
        long inBuffer = position - (end - limit);
        if (inBuffer >= 0 && inBuffer <= limit) {
            next = (int) inBuffer;
        } else {
            next = 0;
            limit = 0;
            stream.seek(position);
            end = position;
        }
    }

    @Override
    public int read() throws IOException {
        return next < limit || fill() ? buffer[next++] & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        if (next == limit) {
            if (length >= buffer.length) {
                return readAround(target, offset, length);
            }
            if (!fill()) {
                return -1;
            }
        }
        int count = Math.min(length, limit - next);
        System.arraycopy(buffer, next, target, offset, count);
        next += count;
        return count;
    }

    /** Reads as much as the buffer holds without copying it. */
    private int readAround(byte[] target, int offset, int length) throws IOException {
        int count = stream.read(target, offset, length);
        next = 0;
        limit = 0;
        end += Math.max(0, count);
        return count;
    }

    /** Returns whether there is a byte to read. */
    private boolean fill() throws IOException {
        int count = stream.read(buffer, 0, buffer.length);
        next = 0;
        limit = Math.max(0, count);
        end += limit;
        return limit > 0;
    }

    @Override
    public long skip(long bytes) throws IOException {
        if (next == limit && !fill()) {
            return 0;
        }
        int count = (int) Math.max(0, Math.min(bytes, limit - next));
        next += count;
        return count;
    }

    @Override
    public int available() throws IOException {
        return (int) Math.min(Integer.MAX_VALUE, (long) (limit - next) + stream.available());
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
