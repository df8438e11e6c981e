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

import dev.dstl.log.execution.FailureReport;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import javax.annotation.Nullable;

/** Runs sorting on other threads, or on the caller's if there is none. */
final class Sorters {

    private final Executor threads;

    Sorters(Executor threads) {
        this.threads = threads;
    }

    /** Runs work; what it throws is in the result. */
    <T> CompletableFuture<T> run(Supplier<T> work) {
        Sorting<T> sorting = new Sorting<>(work);
        try {
            threads.execute(sorting);
        } catch (RejectedExecutionException | OutOfMemoryError noThread) {
            sorting.run();
        }
        return sorting.result;
    }

    private static final class Sorting<T> implements Runnable {

        private final Supplier<T> work;
        private final CompletableFuture<T> result = new CompletableFuture<>();
        private final Runnable failing = this::fail;
        @Nullable private Throwable failure;

        private Sorting(Supplier<T> work) {
            this.work = work;
        }

        @Override
        public void run() {
            try {
                result.complete(work.get());
            } catch (Throwable t) {
                failure = t;
                FailureReport.send(failing);
            }
        }

        private void fail() {
            result.completeExceptionally(failure);
        }
    }
}
