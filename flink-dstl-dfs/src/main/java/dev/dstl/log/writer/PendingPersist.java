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

package dev.dstl.log.writer;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * A checkpoint that waits for batches: for their segments, or only until they are encoded to travel
 * in its handle. Guarded by the {@link LogTail} it belongs to, except for the future, which is
 * completed without any lock held.
 */
final class PendingPersist {

    private final List<TailBatch> batches;
    private final boolean inline;
    private final CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> future =
            new CompletableFuture<>();
    private int missing;

    /**
     * @param batches in order, without gaps
     * @param inline whether those that are not durable travel in the handle
     */
    PendingPersist(List<TailBatch> batches, boolean inline) {
        this.batches = batches;
        this.inline = inline;
        for (TailBatch batch : batches) {
            batch.retain();
            if (!batch.hasPosition(inline)) {
                missing++;
            }
        }
    }

    List<TailBatch> batches() {
        return batches;
    }

    CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> future() {
        return future;
    }

    boolean isInline() {
        return inline;
    }

    boolean isComplete() {
        return missing == 0;
    }

    /** Whether the batch is one of those the persist cannot complete without. */
    boolean waitsFor(TailBatch batch) {
        return contains(batch) && !batch.hasPosition(inline);
    }

    private boolean contains(TailBatch batch) {
        return !batches.isEmpty()
                && batches.get(0).sequence() <= batch.sequence()
                && batch.sequence() <= batches.get(batches.size() - 1).sequence();
    }

    /** A batch that this waited for has a position now. */
    void batchArrived() {
        missing--;
    }
}
