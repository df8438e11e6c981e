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

import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * Reads an object in one thread. The first read, and the first read after a seek, sends a GET; a
 * short seek forward skips bytes instead, as S3 clients do. A missing object is reported at the
 * first read.
 */
final class SimulatedInputStream extends FSDataInputStream {

    private static final long LONGEST_READ_ON = 64 * 1024;

    private final SimulatedObjectStore store;
    private final String key;
    private long position;
    @Nullable private InputStream body;

    /** Position of the body; differs from the position of the stream after a seek. */
    private long bodyPosition;

    SimulatedInputStream(SimulatedObjectStore store, String key) {
        this.store = store;
        this.key = key;
    }

    @Override
    public void seek(long target) throws IOException {
        if (target < 0) {
            throw new EOFException("Seek to " + target + " in " + key);
        }
        position = target;
    }

    @Override
    public long getPos() {
        return position;
    }

    @Override
    public int read() throws IOException {
        int value = bodyAtPosition().read();
        if (value >= 0) {
            advance(1);
        }
        return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = bodyAtPosition().read(bytes, offset, length);
        if (count > 0) {
            advance(count);
        }
        return count;
    }

    @Override
    public int available() throws IOException {
        return body == null || bodyPosition != position ? 0 : body.available();
    }

    @Override
    public void close() throws IOException {
        if (body != null) {
            body.close();
            body = null;
        }
    }

    private void advance(int count) {
        position += count;
        bodyPosition += count;
    }

    private InputStream bodyAtPosition() throws IOException {
        if (body != null && position > bodyPosition && position - bodyPosition <= LONGEST_READ_ON) {
            readOn();
        }
        if (body == null || bodyPosition != position) {
            close();
            body = store.get(key, position);
            bodyPosition = position;
        }
        return body;
    }

    private void readOn() throws IOException {
        while (bodyPosition < position) {
            long skipped = body.skip(position - bodyPosition);
            if (skipped <= 0) {
                return;
            }
            bodyPosition += skipped;
        }
    }
}
