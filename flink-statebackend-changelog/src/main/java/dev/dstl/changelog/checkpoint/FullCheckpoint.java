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

import dev.dstl.changelog.materialization.DelegateSnapshot;
import dev.dstl.changelog.materialization.MaterializedBase;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.util.ExceptionUtils;

/**
 * A checkpoint that brings its own base: done when the snapshot is uploaded and the log persisted,
 * failed as soon as one of them is. Thread safe.
 */
final class FullCheckpoint {

    private final DelegateSnapshot snapshot;
    private final CompletableFuture<MaterializedBase> base = new CompletableFuture<>();
    private final CompletableFuture<SnapshotResult<KeyedStateHandle>> result;

    FullCheckpoint(
            long checkpointId,
            DelegateSnapshot snapshot,
            PersistedLog log,
            CheckpointAssembler assembler) {
        this.snapshot = snapshot;
        this.result =
                base.thenCombine(
                        log.future(),
                        (uploaded, persisted) ->
                                assembler.assemble(checkpointId, uploaded, persisted, log::drop));
        CompletableFuture<?> unused =
                CompletableFuture.allOf(
                        base.whenComplete(this::failFast),
                        log.future().whenComplete(this::failFast));
    }

    private void failFast(Object ignored, Throwable failure) {
        if (failure != null) {
            result.completeExceptionally(failure);
        }
    }

    /** Uploads the snapshot on the calling thread. */
    void uploadSnapshot() {
        try {
            base.complete(snapshot.base(snapshot.run()));
        } catch (Throwable t) {
            base.completeExceptionally(t);
            ExceptionUtils.rethrowIfFatalError(t);
        }
    }

    /** The checkpoint. */
    CompletableFuture<SnapshotResult<KeyedStateHandle>> result() {
        return result;
    }

    /**
     * Calls one of both on the thread that ends the checkpoint.
     *
     * @param done gets the base
     * @param failed called as well if the checkpoint was cancelled
     */
    void whenEnded(Consumer<MaterializedBase> done, Runnable failed) {
        CompletableFuture<?> unused =
                result.whenComplete(
                        (ignored, failure) -> {
                            if (failure == null) {
                                done.accept(base.join());
                            } else {
                                failed.run();
                            }
                        });
    }
}
