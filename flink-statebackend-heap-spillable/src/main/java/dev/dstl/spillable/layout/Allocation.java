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

package dev.dstl.spillable.layout;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import javax.annotation.Nullable;
import org.apache.flink.util.ExceptionUtils;

/**
 * Allocates what a large state is copied to, on another thread if that is much memory: the heap
 * that a table of ten million places takes is zeroed in one step, of a tenth of a second. Task
 * thread only.
 */
final class Allocation<C> {

    /** So many places of four bytes take about a millisecond. */
    static final int MOST_AT_ONCE = 1 << 17;

    @Nullable private CompletableFuture<C> running;

    /**
     * The collection; null if it is not allocated yet and to be asked for again later.
     *
     * @param elements that it is to take
     */
    @Nullable
    C get(int elements, Supplier<C> allocate) {
        if (running == null) {
            if (elements <= MOST_AT_ONCE) {
                return allocate.get();
            }
            running = start(allocate);
        }
        if (!running.isDone()) {
            return null;
        }
        try {
            return running.join();
        } catch (CompletionException e) {
            ExceptionUtils.rethrow(e.getCause());
            throw e;
        }
    }

    private static <C> CompletableFuture<C> start(Supplier<C> allocate) {
        try {
            return CompletableFuture.supplyAsync(allocate);
        } catch (OutOfMemoryError e) {
            // There is no other thread.
            return CompletableFuture.completedFuture(allocate.get());
        }
    }
}
