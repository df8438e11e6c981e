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

package dev.dstl.changelog.checkpoint;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/**
 * The asynchronous part of a checkpoint as a Flink future. It may be completed by any thread;
 * cancelling it wakes the threads that wait for it. Thread-safe.
 */
final class CheckpointFuture implements RunnableFuture<SnapshotResult<KeyedStateHandle>> {

    private final Runnable work;
    private final CompletableFuture<SnapshotResult<KeyedStateHandle>> result;
    private final Runnable abort;

    private CheckpointFuture(
            Runnable work,
            CompletableFuture<SnapshotResult<KeyedStateHandle>> result,
            Runnable abort) {
        this.work = work;
        this.result = result;
        this.abort = abort;
    }

    /** Creates a future of a checkpoint that other threads complete. */
    static CheckpointFuture of(CompletableFuture<SnapshotResult<KeyedStateHandle>> result) {
        return new CheckpointFuture(() -> {}, result, () -> result.cancel(false));
    }

    /**
     * Creates a future of a checkpoint that Flink's asynchronous thread works for until it is done,
     * aborted or not.
     *
     * @param work completes {@code result}; throws nothing
     */
    static CheckpointFuture of(
            Runnable work, CompletableFuture<SnapshotResult<KeyedStateHandle>> result) {
        return new CheckpointFuture(work, result, () -> {});
    }

    /**
     * Creates a future of a checkpoint that Flink's asynchronous thread works for.
     *
     * @param work contributes to {@code result}; throws nothing
     * @param abort ends the wait for {@code result} if the checkpoint is aborted; throws nothing
     */
    static CheckpointFuture of(
            Runnable work,
            CompletableFuture<SnapshotResult<KeyedStateHandle>> result,
            Runnable abort) {
        return new CheckpointFuture(work, result, abort);
    }

    /** Creates a future of a checkpoint that is declined. */
    static CheckpointFuture failed(Throwable cause) {
        return of(CompletableFuture.failedFuture(cause));
    }

    CompletableFuture<?> result() {
        return result;
    }

    /**
     * Ends the wait for the result because the JobManager has aborted the checkpoint. No effect
     * once there is a result.
     */
    void abort() {
        abort.run();
    }

    @Override
    public void run() {
        work.run();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return result.cancel(mayInterruptIfRunning);
    }

    @Override
    public boolean isCancelled() {
        return result.isCancelled();
    }

    @Override
    public boolean isDone() {
        return result.isDone();
    }

    @Override
    public SnapshotResult<KeyedStateHandle> get() throws InterruptedException, ExecutionException {
        return result.get();
    }

    @Override
    public SnapshotResult<KeyedStateHandle> get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return result.get(timeout, unit);
    }
}
