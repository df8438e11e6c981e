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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file as a stream, read in large chunks. Used by one thread; another one may close it, which
 * ends a pending read even if the store does not answer.
 */
final class RetriedStream extends FSDataInputStream {

    private static final Logger LOG = LoggerFactory.getLogger(RetriedStream.class);

    /** Each request is answered on another thread, so it should be worth the switch. */
    private static final int CHUNK_BYTES = 64 << 10;

    private final ReadSession session;
    private final RetriedFile file;
    private final AtomicReference<Exception> failure;

    private final byte[] chunk;

    /** Position in the file after the last byte of the chunk. */
    private long end;

    private int next;
    private int limit;

    @GuardedBy("session")
    private boolean reading;

    @GuardedBy("session")
    private boolean closed;

    /**
     * Creates a stream. The file is opened by the first read.
     *
     * @param session of this stream alone
     * @param failure receives the first failure of a file of the same restore
     */
    RetriedStream(FileStateHandle file, ReadSession session, AtomicReference<Exception> failure) {
        this.session = session;
        this.failure = failure;
        this.file = RetriedFile.ofBase(file, session);
        long size = file.getStateSize();
        // One byte more, so that the end of a small file is found by the same request.
        this.chunk = new byte[size > 0 && size < CHUNK_BYTES ? (int) size + 1 : CHUNK_BYTES];
    }

    @Override
    public long getPos() {
        return end - limit + next;
    }

    @Override
    public void seek(long position) {
        long inChunk = position - (end - limit);
        if (inChunk >= 0 && inChunk <= limit) {
            next = (int) inChunk;
        } else {
            next = 0;
            limit = 0;
            end = position;
        }
    }

    @Override
    public int read() throws IOException {
        return next < limit || fill() ? chunk[next++] & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        if (next == limit && !fill()) {
            return -1;
        }
        int count = Math.min(length, limit - next);
        System.arraycopy(chunk, next, target, offset, count);
        next += count;
        return count;
    }

    /** Returns whether there is a byte to read. */
    private boolean fill() throws IOException {
        synchronized (session) {
            if (closed) {
                throw new IOException("The stream of " + file.name() + " is closed");
            }
            reading = true;
        }
        try {
            int count = file.read(end, chunk, chunk.length);
            next = 0;
            limit = count;
            end += count;
            return count > 0;
        } catch (IOException | RuntimeException e) {
            if (session.isGivenUp()) {
                throw new IOException("The stream of " + file.name() + " was closed during a read");
            }
            failure.compareAndSet(null, e);
            throw e;
        } finally {
            boolean release;
            synchronized (session) {
                reading = false;
                release = closed;
            }
            if (release) {
                release();
            }
        }
    }

    @Override
    public long skip(long bytes) throws IOException {
        if (bytes <= 0 || (next == limit && !fill())) {
            return 0;
        }
        int count = (int) Math.min(bytes, limit - next);
        next += count;
        return count;
    }

    @Override
    public int available() {
        return limit - next;
    }

    @Override
    public void close() {
        boolean release;
        synchronized (session) {
            release = !closed && !reading;
            closed = true;
        }
        if (release) {
            release();
        } else {
            session.giveUp(Long.MAX_VALUE);
        }
    }

    /** What was read is complete, whether or not the file can be closed. */
    private void release() {
        try {
            file.close();
        } catch (IOException | RuntimeException e) {
            LOG.debug("Could not close {}", file.name(), e);
        }
    }
}
