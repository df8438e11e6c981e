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

package dev.dstl.changelog.sorting;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import javax.annotation.Nullable;
import org.apache.flink.util.ExceptionUtils;

/**
 * What the reading thread hands over to the applying thread: parts of the changelog, which may
 * still be being sorted, then null at its end, or a failure. Thread-safe.
 */
final class OrderedParts {

    private final BlockingQueue<CompletableFuture<OrderedRecords>> parts =
            new LinkedBlockingQueue<>();

    private volatile boolean closed;

    /** Adds a part, which is released if nobody will take it. */
    void put(CompletableFuture<OrderedRecords> part) {
        parts.add(part);
        if (closed) {
            drain();
        }
    }

    /** Waits for the next part; null at the end of the changelog. */
    @Nullable
    OrderedRecords take() throws IOException {
        CompletableFuture<OrderedRecords> part = null;
        try {
            part = parts.take();
            return part.get();
        } catch (InterruptedException e) {
            if (part != null) {
                releaseWhenSorted(part);
            }
            throw interrupted();
        } catch (ExecutionException e) {
            ExceptionUtils.tryRethrowIOException(e.getCause());
            throw new IOException("The changelog cannot be read: " + e.getCause(), e.getCause());
        }
    }

    /** Releases parts that nobody has taken, now and later, and wakes the applying thread. */
    void close() {
        closed = true;
        drain();
    }

    boolean isClosed() {
        return closed;
    }

    private void drain() {
        List<CompletableFuture<OrderedRecords>> left = new ArrayList<>();
        parts.drainTo(left);
        left.forEach(OrderedParts::releaseWhenSorted);
        parts.add(CompletableFuture.failedFuture(cancelled()));
    }

    private static void releaseWhenSorted(CompletableFuture<OrderedRecords> part) {
        CompletableFuture<?> unused =
                part.whenComplete(
                        (records, failure) -> {
                            if (records != null) {
                                records.release();
                            }
                        });
    }

    /** Returns what an interrupted thread of the restore throws, and interrupts it again. */
    static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return cancelled();
    }

    static InterruptedIOException cancelled() {
        return new InterruptedIOException("The task was cancelled during replay");
    }
}
