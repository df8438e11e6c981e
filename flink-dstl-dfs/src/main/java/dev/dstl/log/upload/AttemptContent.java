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

package dev.dstl.log.upload;

import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.store.SegmentContent;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;

/**
 * The bytes of a segment for one attempt. They can be released during the write, so that a thread
 * that hangs in a file system client does not retain the segment.
 */
final class AttemptContent implements SegmentContent {

    /** Size of the buffer, which is all that a hanging thread retains. */
    private static final int PIECE_BYTES = 64 << 10;

    private final long length;
    private final LongSupplier nanoTime;
    @Nullable private volatile EncodedSegment segment;
    @Nullable private volatile Closeable stream;
    private volatile long progressNanos;

    /**
     * Creates the content for an attempt that starts now.
     *
     * @param nanoTime a monotonic clock
     */
    AttemptContent(EncodedSegment segment, LongSupplier nanoTime) {
        this.segment = segment;
        this.length = segment.length();
        this.nanoTime = nanoTime;
        this.progressNanos = nanoTime.getAsLong();
    }

    /** Returns the segment; null after {@link #detach}. */
    @Nullable
    EncodedSegment segment() {
        return segment;
    }

    /** Returns the stream being written to; null while none is open. */
    @Nullable
    Closeable stream() {
        return stream;
    }

    /** Returns when the client last took bytes or opened the file, or when the attempt started. */
    long progressNanos() {
        return progressNanos;
    }

    /** Releases the segment. The writing thread fails at its next access. */
    void detach() {
        segment = null;
    }

    @Override
    public boolean isCancelled() {
        return segment == null;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public void opened(Closeable opened) throws IOException {
        stream = opened;
        progressed();
        if (segment == null) {
            throw cancelled();
        }
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
        byte[] piece = new byte[(int) Math.min(PIECE_BYTES, length)];
        for (long at = 0; at < length; ) {
            int bytes = read(at, piece);
            out.write(piece, 0, bytes);
            at += bytes;
            progressed();
        }
    }

    private void progressed() {
        progressNanos = nanoTime.getAsLong();
    }

    /** The only access to the segment by the writing thread, and a short one. */
    private int read(long at, byte[] piece) throws IOException {
        EncodedSegment attached = segment;
        if (attached == null) {
            throw cancelled();
        }
        return attached.read(at, piece);
    }

    private static IOException cancelled() {
        return new InterruptedIOException("The attempt is cancelled");
    }
}
