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

package dev.dstl.changelog.materialization;

import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Collects small writes. HashMap writes a snapshot byte by byte, and each write to the stream
 * behind would take a lock and an atomic operation.
 *
 * <p>One thread writes; any thread closes. What is collected when the stream is closed is lost.
 */
final class BufferedSnapshotStream extends CheckpointStateOutputStream {

    private static final int BUFFER_BYTES = 8 << 10;

    private final CheckpointStateOutputStream out;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int buffered;

    /**
     * Creates a stream.
     *
     * @param out owned by this stream
     */
    BufferedSnapshotStream(CheckpointStateOutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int oneByte) throws IOException {
        if (buffered == BUFFER_BYTES) {
            writeBuffer();
        }
        buffer[buffered++] = (byte) oneByte;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (length > BUFFER_BYTES - buffered) {
            writeBuffer();
        }
        if (length >= BUFFER_BYTES) {
            out.write(bytes, offset, length);
        } else {
            System.arraycopy(bytes, offset, buffer, buffered, length);
            buffered += length;
        }
    }

    private void writeBuffer() throws IOException {
        if (buffered > 0) {
            out.write(buffer, 0, buffered);
            buffered = 0;
        }
    }

    @Override
    public long getPos() throws IOException {
        return out.getPos() + buffered;
    }

    @Override
    public void flush() throws IOException {
        writeBuffer();
        out.flush();
    }

    @Override
    public void sync() throws IOException {
        writeBuffer();
        out.sync();
    }

    @Override
    @Nullable
    public StreamStateHandle closeAndGetHandle() throws IOException {
        writeBuffer();
        return out.closeAndGetHandle();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
