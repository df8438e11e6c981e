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

import dev.dstl.log.metrics.DstlMetrics;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Optional;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * A segment in {@link RecentSegments}. Exists from before the upload until no batch of the segment
 * is needed any more; its bytes may be evicted earlier. Thread-safe; no method blocks.
 */
public final class RecentSegment {

    private final RecentSegments segments;
    private final DstlMetrics metrics;

    /** Null unless it is in memory. Written by {@link RecentSegments} only. */
    @Nullable private volatile EncodedSegment content;

    private volatile boolean released;

    RecentSegment(RecentSegments segments, DstlMetrics metrics) {
        this.segments = segments;
        this.metrics = metrics;
    }

    /**
     * Reports that the segment is durable; its bytes are retained if there is room. Called at most
     * once, possibly concurrently with {@link #release}.
     */
    public void durable(EncodedSegment written) {
        segments.keep(this, written);
    }

    /** Drops the bytes because no batch in the segment is needed any more. */
    public void release() {
        released = true;
        segments.drop(this);
    }

    boolean isWanted() {
        return !released;
    }

    void fill(EncodedSegment kept) {
        content = kept;
    }

    /** Drops the bytes; returns how many bytes that frees. */
    long clear() {
        long bytes = content.heldBytes();
        content = null;
        return bytes;
    }

    /**
     * Returns a handle that reads the segment from memory while it is there, and otherwise from
     * another handle. Must not leave the process.
     *
     * @param original another handle of the same segment
     */
    public StreamStateHandle orElse(StreamStateHandle original) {
        return new SegmentCopy(new Handle(original), original, () -> {});
    }

    /** Reads the bytes that are in memory when it is opened. Must not leave the process. */
    private final class Handle implements StreamStateHandle {

        private static final long serialVersionUID = 1L;

        private final StreamStateHandle original;

        private Handle(StreamStateHandle original) {
            this.original = original;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            EncodedSegment kept = content;
            if (kept == null) {
                metrics.recentSegmentMissed();
                throw new NotKeptException();
            }
            metrics.recentSegmentRead();
            return new KeptStream(kept.length());
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return Optional.empty();
        }

        @Override
        public PhysicalStateHandleID getStreamStateHandleID() {
            return original.getStreamStateHandleID();
        }

        /** Has no effect: the bytes are dropped with the last batch of the segment, or earlier. */
        @Override
        public void discardState() {}

        @Override
        public long getStateSize() {
            return original.getStateSize();
        }

        @Override
        public String toString() {
            return "kept " + original;
        }
    }

    /**
     * The segment is no longer in memory. Not a failure: it is then read from where it is durable.
     */
    static final class NotKeptException extends FileNotFoundException {
        private static final long serialVersionUID = 1L;

        private NotKeptException() {
            super("The segment is not kept in memory any more");
        }
    }

    /**
     * Holds no reference to the bytes, so that evicted bytes are freed at once, even during a read.
     */
    private final class KeptStream extends FSDataInputStream {

        private final long length;
        private final byte[] single = new byte[1];
        private long position;

        private KeptStream(long length) {
            this.length = length;
        }

        @Override
        public void seek(long desired) {
            position = desired;
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public int read() throws IOException {
            return read(single, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(single[0]);
        }

        @Override
        public int read(byte[] target, int offset, int count) throws IOException {
            EncodedSegment kept = content;
            if (kept == null) {
                throw new NotKeptException();
            }
            if (count == 0) {
                return 0;
            }
            if (position >= length) {
                return -1;
            }
            int read = kept.read(position, target, offset, count);
            position += read;
            return read;
        }

        @Override
        public long skip(long count) {
            long skipped = Math.max(0, Math.min(count, length - position));
            position += skipped;
            return skipped;
        }

        @Override
        public int available() {
            return (int) Math.min(Integer.MAX_VALUE, Math.max(0, length - position));
        }
    }
}
