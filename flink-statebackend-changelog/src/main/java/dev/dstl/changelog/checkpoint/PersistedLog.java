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

import dev.dstl.log.api.ChangelogWriter;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/** The changelog of one checkpoint, which the storage persists asynchronously. Thread-safe. */
final class PersistedLog {

    private final StateChangelogWriter<?> writer;
    private final CompletableFuture<? extends SnapshotResult<? extends ChangelogStateHandle>>
            future;

    private PersistedLog(
            StateChangelogWriter<?> writer,
            CompletableFuture<? extends SnapshotResult<? extends ChangelogStateHandle>> future) {
        this.writer = writer;
        this.future = future;
    }

    /** Starts to persist the changelog from a sequence number on, inclusive. */
    static PersistedLog of(StateChangelogWriter<?> writer, SequenceNumber from, long checkpointId)
            throws IOException {
        return new PersistedLog(writer, writer.persist(from, checkpointId));
    }

    /** Returns an empty changelog. */
    static PersistedLog empty(StateChangelogWriter<?> writer) {
        return new PersistedLog(writer, CompletableFuture.completedFuture(SnapshotResult.empty()));
    }

    /** Returns the result of the storage. */
    CompletableFuture<? extends SnapshotResult<? extends ChangelogStateHandle>> future() {
        return future;
    }

    /**
     * Reports that the checkpoint will not be sent. May be called before and after the persist has
     * ended.
     */
    void drop() {
        if (future.cancel(false)
                || future.isCompletedExceptionally()
                || !(writer instanceof ChangelogWriter)) {
            return;
        }
        SnapshotResult<? extends ChangelogStateHandle> persisted = future.join();
        ChangelogStateHandle handle =
                persisted == null ? null : persisted.getJobManagerOwnedSnapshot();
        if (handle instanceof ChangelogStateHandleStreamImpl) {
            ((ChangelogWriter) writer).dropped((ChangelogStateHandleStreamImpl) handle);
        }
    }
}
