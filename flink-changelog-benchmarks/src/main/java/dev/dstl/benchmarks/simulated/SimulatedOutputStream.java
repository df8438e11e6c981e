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

package dev.dstl.benchmarks.simulated;

import dev.dstl.benchmarks.simulated.content.StagedObject;
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import java.io.IOException;
import org.apache.flink.core.fs.FSDataOutputStream;

/**
 * Writes an object. {@link #close()} sends the request, blocks until the store has answered, and
 * reports every failure of the store; nothing is visible before. Closing again has no effect,
 * whatever the result of the first close.
 */
final class SimulatedOutputStream extends FSDataOutputStream {

    private final SimulatedObjectStore store;
    private final String key;
    private final StagedObject staged;
    private boolean closed;

    SimulatedOutputStream(SimulatedObjectStore store, String key) throws IOException {
        this.store = store;
        this.key = key;
        this.staged = store.stage();
    }

    @Override
    public long getPos() {
        return staged.length();
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        requireOpen();
        staged.write(bytes, offset, length);
    }

    @Override
    public void flush() throws IOException {
        requireOpen();
    }

    /** Has no effect: an object becomes durable when it is closed, as on every object store. */
    @Override
    public void sync() throws IOException {
        requireOpen();
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try (StagedObject discarded = staged) {
            store.put(key, discarded);
        }
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException("Written after close: " + key);
        }
    }
}
