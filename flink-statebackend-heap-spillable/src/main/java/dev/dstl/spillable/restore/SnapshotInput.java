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

package dev.dstl.spillable.restore;

import java.io.IOException;
import java.io.InputStream;

/**
 * Reads a snapshot through a buffer: serializers read byte by byte, and a byte of an unbuffered
 * file is a system call. One thread. Closing is up to whoever opened the stream below.
 */
final class SnapshotInput extends InputStream {

    private static final int BUFFER_BYTES = 64 * 1024;

    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int next;
    private int end;

    /** Position in the stream of what lies behind the buffer. */
    private long endPosition;

    /**
     * @param position where {@code in} stands
     */
    SnapshotInput(InputStream in, long position) {
        this.in = in;
        this.endPosition = position;
    }

    /** Position of the next byte. */
    long position() {
        return endPosition - (end - next);
    }

    /** Goes to a position if what lies there is buffered. */
    boolean seekInBuffer(long position) {
        long from = endPosition - end;
        if (position < from || position > endPosition) {
            return false;
        }
        next = (int) (position - from);
        return true;
    }

    /** Forgets what is buffered: the stream below stands elsewhere now. */
    void restart(long position) {
        next = 0;
        end = 0;
        endPosition = position;
    }

    @Override
    public int read() throws IOException {
        if (next == end && !fill()) {
            return -1;
        }
        return buffer[next++] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (next == end) {
            if (length >= BUFFER_BYTES) {
                int read = in.read(target, offset, length);
                restart(endPosition + Math.max(0, read));
                return read;
            }
            if (!fill()) {
                return -1;
            }
        }
        int read = Math.min(length, end - next);
        System.arraycopy(buffer, next, target, offset, read);
        next += read;
        return read;
    }

    private boolean fill() throws IOException {
        int read = in.read(buffer, 0, BUFFER_BYTES);
        restart(endPosition);
        if (read <= 0) {
            return false;
        }
        end = read;
        endPosition += read;
        return true;
    }

    @Override
    public int available() throws IOException {
        return end - next + in.available();
    }
}
