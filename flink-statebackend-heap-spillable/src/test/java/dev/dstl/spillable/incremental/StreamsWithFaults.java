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

package dev.dstl.spillable.incremental;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * A checkpoint storage that gets full, or fails before the last file of a checkpoint. As with many
 * stores, a thread that is interrupted deletes nothing.
 */
final class StreamsWithFaults implements CheckpointStreamFactory {

    static final String FULL = "No space left on device";

    /** Something that fails. */
    interface Fault {
        void happen() throws IOException;
    }

    private final CheckpointStreamFactory streams;
    private final AtomicLong room = new AtomicLong(Long.MAX_VALUE);
    private final AtomicInteger exclusive = new AtomicInteger();
    private final AtomicInteger finished = new AtomicInteger();
    private Fault beforeLastFile = () -> {};

    StreamsWithFaults(CheckpointStreamFactory streams) {
        this.streams = streams;
    }

    /** All files together take so many bytes, and a part of what exceeds them. */
    void limit(long bytes) {
        room.set(bytes);
    }

    void beforeLastFile(Fault fault) {
        beforeLastFile = fault;
    }

    /** Number of files that were written to their ends. */
    int finished() {
        return finished.get();
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        // The directory comes last, after the file with heap entries.
        if (scope == CheckpointedStateScope.EXCLUSIVE && exclusive.incrementAndGet() == 2) {
            beforeLastFile.happen();
        }
        return new Stream(streams.createCheckpointStateOutputStream(scope));
    }

    @Override
    public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope) {
        return false;
    }

    @Override
    public List<StreamStateHandle> duplicate(
            List<StreamStateHandle> handles, CheckpointedStateScope scope) {
        throw new UnsupportedOperationException();
    }

    private final class Stream extends CheckpointStateOutputStream {
        private final CheckpointStateOutputStream out;

        Stream(CheckpointStateOutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int oneByte) throws IOException {
            write(new byte[] {(byte) oneByte}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            long left = room.addAndGet(-count);
            out.write(bytes, offset, (int) Math.max(0, Math.min(count, count + left)));
            if (left < 0) {
                throw new IOException(FULL);
            }
        }

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
            FileStateHandle handle = (FileStateHandle) out.closeAndGetHandle();
            finished.incrementAndGet();
            return new InterruptibleFile(handle.getFilePath(), handle.getStateSize());
        }

        @Override
        public long getPos() throws IOException {
            return out.getPos();
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void sync() throws IOException {
            out.sync();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }

    private static final class InterruptibleFile extends FileStateHandle {

        private static final long serialVersionUID = 1L;

        InterruptibleFile(Path path, long bytes) {
            super(path, bytes);
        }

        @Override
        public void discardState() throws Exception {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted");
            }
            super.discardState();
        }
    }
}
