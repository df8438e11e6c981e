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
 * One of the {@link RecentSegments}, from before it is durable until no batch in it is needed any
 * more; its bytes may be evicted earlier. Thread safe; no method blocks.
 */
public final class RecentSegment {

    private final RecentSegments segments;
    private final DstlMetrics metrics;

    /** Null unless it is kept. Changed by {@link RecentSegments} alone. */
    @Nullable private volatile EncodedSegment content;

    private volatile boolean released;

    RecentSegment(RecentSegments segments, DstlMetrics metrics) {
        this.segments = segments;
        this.metrics = metrics;
    }

    /** It is durable, and kept if there is room. Called at most once; may cross with a release. */
    public void durable(EncodedSegment written) {
        segments.keep(this, written);
    }

    /** No batch in it is needed any more. */
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

    /** Returns how many bytes are free now. */
    long clear() {
        long bytes = content.heldBytes();
        content = null;
        return bytes;
    }

    /**
     * What to read: this one as long as it is kept, and then something else.
     *
     * @param original the same segment elsewhere
     */
    public StreamStateHandle orElse(StreamStateHandle original) {
        return new SegmentCopy(new Handle(original), original, () -> {});
    }

    /** As it is kept at the moment it is opened. Stays in the process. */
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

        /** Does nothing: it is dropped with the last batch in it, or before. */
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
     * Says that a segment is not in memory any more, which is no failure: it is read from where it
     * is durable.
     */
    static final class NotKeptException extends FileNotFoundException {
        private static final long serialVersionUID = 1L;

        private NotKeptException() {
            super("The segment is not kept in memory any more");
        }
    }

    /** Holds no bytes itself: what is dropped is free at once, and not read to its end. */
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
