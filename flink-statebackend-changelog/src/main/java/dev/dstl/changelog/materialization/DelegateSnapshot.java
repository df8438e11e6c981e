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

package dev.dstl.changelog.materialization;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.util.concurrent.FutureUtils;

/**
 * A snapshot of the delegate after its synchronous part. The caller that runs it owns the result.
 * Thread-safe.
 */
public final class DelegateSnapshot {

    private final long id;
    private final long builtOn;
    private final SequenceNumber to;
    private final SequenceNumber quietTo;
    private final RunnableFuture<SnapshotResult<KeyedStateHandle>> upload;
    private final SnapshotFiles files;
    private final SharedFiles shared;

    /**
     * Creates a snapshot.
     *
     * @param files records the files that {@code upload} writes
     * @param shared those of the base before
     */
    DelegateSnapshot(
            long id,
            long builtOn,
            SequenceNumber to,
            SequenceNumber quietTo,
            RunnableFuture<SnapshotResult<KeyedStateHandle>> upload,
            SnapshotFiles files,
            SharedFiles shared) {
        this.id = id;
        this.builtOn = builtOn;
        this.to = to;
        this.quietTo = quietTo;
        this.upload = upload;
        this.files = files;
        this.shared = shared;
    }

    /** Returns the materialization id. */
    public long id() {
        return id;
    }

    /** Returns the end of the changelog that the snapshot covers, exclusive. */
    public SequenceNumber to() {
        return to;
    }

    /**
     * Runs the asynchronous part on the calling thread, or waits for the thread that runs it.
     *
     * @throws Exception if it fails or is cancelled
     */
    public SnapshotResult<KeyedStateHandle> run() throws Exception {
        return FutureUtils.runIfNotDoneAndGet(upload);
    }

    /** Returns the base that consists of {@code result}. */
    public MaterializedBase base(SnapshotResult<KeyedStateHandle> result) {
        StateParts remote = StateParts.ofSnapshot(result.getJobManagerOwnedSnapshot());
        StateParts resolved = shared.resolve(remote);
        return new MaterializedBase(
                id,
                builtOn,
                to,
                quietTo,
                remote,
                resolved,
                new SharedFiles(resolved),
                StateParts.ofSnapshot(result.getTaskLocalSnapshot()));
    }

    /** Returns a value that changes whenever the store has answered the asynchronous part. */
    long progress() {
        return files.progress();
    }

    /**
     * Interrupts the asynchronous part. No effect once it has ended. Its files stay until {@link
     * #discard()}.
     */
    public void cancel() {
        upload.cancel(true);
    }

    /**
     * Cancels the snapshot and deletes its files, also those that are still being written. Blocks.
     *
     * @throws Exception if a file could not be deleted
     */
    public void discard() throws Exception {
        SnapshotResult<KeyedStateHandle> result = cancelOrGetResult();
        if (result == null) {
            files.discard();
        } else {
            base(result).discard();
        }
    }

    /** Returns the result, or null if there will be none. */
    @Nullable
    private SnapshotResult<KeyedStateHandle> cancelOrGetResult() throws InterruptedException {
        if (upload.cancel(true) || upload.isCancelled()) {
            return null;
        }
        try {
            return upload.get();
        } catch (ExecutionException failed) {
            return null;
        }
    }

    @Override
    public String toString() {
        return "materialization " + id + " up to " + to;
    }
}
