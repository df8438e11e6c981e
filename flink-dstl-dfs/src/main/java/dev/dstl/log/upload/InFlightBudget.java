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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.io.AvailabilityProvider;

/**
 * Bytes that are sealed but not yet durable. At the limit the tasks are asked to stop taking input;
 * reserving itself never fails and never waits, since what a task already appended has to go
 * somewhere. Thread safe.
 */
public final class InFlightBudget implements AvailabilityProvider {

    private final long limitBytes;

    @GuardedBy("this")
    private long reservedBytes;

    private volatile CompletableFuture<?> available = AVAILABLE;

    /**
     * @param limitBytes reserved bytes at which input stops, at least 1
     */
    public InFlightBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** Adds bytes; they stay until released. */
    public synchronized void reserve(long bytes) {
        reservedBytes += bytes;
        if (reservedBytes >= limitBytes && available == AVAILABLE) {
            available = new CompletableFuture<>();
        }
    }

    /**
     * Takes bytes away again. Wakes the tasks if that frees the budget.
     *
     * @throws IllegalStateException if fewer are reserved
     */
    public void release(long bytes) {
        CompletableFuture<?> waiting = null;
        synchronized (this) {
            if (bytes > reservedBytes) {
                throw new IllegalStateException(
                        "Cannot release " + bytes + " bytes of " + reservedBytes);
            }
            reservedBytes -= bytes;
            if (reservedBytes < limitBytes && available != AVAILABLE) {
                waiting = available;
                available = AVAILABLE;
            }
        }
        if (waiting != null) {
            waiting.complete(null);
        }
    }

    /** Bytes reserved now. */
    public synchronized long reservedBytes() {
        return reservedBytes;
    }

    @Override
    public CompletableFuture<?> getAvailableFuture() {
        return available;
    }
}
