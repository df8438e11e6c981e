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
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.atomic.AtomicLong;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * The stream of a segment, opened at the first read. Read by one thread at a time; another thread
 * may watch its progress and abandon it, after which only the reading thread uses it.
 */
final class SegmentStream implements Closeable {

    private final ReadSession session;

    /** Null if the stream was given. */
    @Nullable private final StreamStateHandle source;

    /** Null before the first read. */
    @Nullable private volatile FSDataInputStream stream;

    /** Position of the stream; negative if unknown. */
    private long position;

    private final AtomicLong progress = new AtomicLong();
    private volatile boolean abandoned;

    SegmentStream(StreamStateHandle source, ReadSession session) {
        this.source = source;
        this.session = session;
    }

    /** Takes ownership of the stream, which is at its start. */
    SegmentStream(FSDataInputStream stream, ReadSession session) {
        this.source = null;
        this.session = session;
        this.stream = stream;
    }

    /**
     * Reads {@code [offset, offset + count)} to the start of {@code target}.
     *
     * @return number of bytes read, less than {@code count} only at the end
     */
    int read(long offset, byte[] target, int count) throws IOException {
        FSDataInputStream open = connected();
        try {
            return move(open, offset) ? fill(open, target, count) : 0;
        } catch (IOException | RuntimeException e) {
            position = -1;
            throw e;
        }
    }

    private FSDataInputStream connected() throws IOException {
        FSDataInputStream open = stream;
        if (open != null || source == null) {
            return open;
        }
        open = source.openInputStream();
        session.opened(open);
        stream = open;
        position = 0;
        progress.incrementAndGet();
        if (abandoned) {
            close();
            throw new InterruptedIOException("The segment is no longer needed");
        }
        return open;
    }

    private boolean move(FSDataInputStream open, long offset) throws IOException {
        if (position != offset) {
            position = -1;
            try {
                if (!BoundedSeek.move(open, offset)) {
                    return false;
                }
            } catch (EOFException e) {
                // Some stores refuse to seek behind the end instead of reading nothing there.
                return false;
            }
            position = offset;
        }
        return true;
    }

    private int fill(FSDataInputStream open, byte[] target, int count) throws IOException {
        int read = 0;
        try {
            while (read < count) {
                int part = open.read(target, read, count - read);
                if (part < 0) {
                    break;
                }
                read += part;
                position += part;
                progress.incrementAndGet();
            }
        } catch (EOFException e) {
            position = -1;
        }
        return read;
    }

    /** Returns a value that grows with every answer of the store. */
    long progress() {
        return progress.get();
    }

    /** Abandons the stream. If it is still being opened, the opening thread closes it. */
    void abandon() {
        abandoned = true;
        ReadSession.closeElsewhere(this);
    }

    @Override
    public void close() throws IOException {
        FSDataInputStream closing = stream;
        if (closing != null) {
            stream = null;
            try {
                closing.close();
            } finally {
                session.closed(closing);
            }
        }
    }
}
