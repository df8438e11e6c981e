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

package dev.dstl.benchmarks.simulated.store;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/** The body of a GET: counts bytes and returns them no faster than the bandwidth allows. */
final class PacedInputStream extends FilterInputStream {

    /** Shorter sleeps are combined, since a real sleep is not more precise. */
    private static final long SHORTEST_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final StoreTime time;
    private final long bytesPerSecond;
    private final RequestCounters counters;
    private long owedNanos;

    PacedInputStream(
            InputStream body, StoreTime time, long bytesPerSecond, RequestCounters counters) {
        super(body);
        this.time = time;
        this.bytesPerSecond = bytesPerSecond;
        this.counters = counters;
    }

    @Override
    public int read() throws IOException {
        int value = super.read();
        delivered(value < 0 ? 0 : 1);
        return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = super.read(bytes, offset, length);
        delivered(Math.max(0, count));
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        long skipped = super.skip(count);
        delivered(skipped);
        return skipped;
    }

    @Override
    public boolean markSupported() {
        return false;
    }

    private void delivered(long bytes) throws IOException {
        counters.countBytesRead(bytes);
        owedNanos += SimulatedObjectStore.transferNanos(bytes, bytesPerSecond);
        if (owedNanos >= SHORTEST_SLEEP_NANOS) {
            try {
                time.sleep(owedNanos);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("Interrupted while reading an object");
            }
            owedNanos = 0;
        }
    }
}
