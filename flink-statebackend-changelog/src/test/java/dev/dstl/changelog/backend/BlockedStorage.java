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

package dev.dstl.changelog.backend;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStateToolset;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocation;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;

/** A checkpoint storage whose task-owned files can hang and fail. Thread-safe. */
final class BlockedStorage implements CheckpointStorageAccess {

    private final CheckpointStorageAccess storage;
    private final CountDownLatch blocked = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile boolean failing;

    BlockedStorage(CheckpointStorageAccess storage) {
        this.storage = storage;
    }

    void block() {
        gate = new CountDownLatch(1);
    }

    void unblock() {
        gate.countDown();
    }

    void fail(boolean fail) {
        failing = fail;
    }

    /** Waits until a thread hangs. */
    void awaitBlocked() throws InterruptedException {
        await(blocked);
    }

    /** Waits until the hanging thread was interrupted. */
    void awaitInterrupted() throws InterruptedException {
        await(interrupted);
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(1, TimeUnit.MINUTES)) {
            throw new AssertionError("Nothing happened within a minute");
        }
    }

    @Override
    public CheckpointStateOutputStream createTaskOwnedStateStream() throws IOException {
        if (failing) {
            throw new IOException("The store is down, says the test: store is down");
        }
        blocked.countDown();
        try {
            gate.await();
        } catch (InterruptedException e) {
            interrupted.countDown();
            throw new InterruptedIOException("interrupted while hanging");
        }
        return storage.createTaskOwnedStateStream();
    }

    @Override
    public CheckpointStateToolset createTaskOwnedCheckpointStateToolset() {
        return storage.createTaskOwnedCheckpointStateToolset();
    }

    @Override
    public CheckpointStreamFactory resolveCheckpointStorageLocation(
            long checkpointId, CheckpointStorageLocationReference reference) throws IOException {
        return storage.resolveCheckpointStorageLocation(checkpointId, reference);
    }

    @Override
    public boolean supportsHighlyAvailableStorage() {
        return storage.supportsHighlyAvailableStorage();
    }

    @Override
    public boolean hasDefaultSavepointLocation() {
        return storage.hasDefaultSavepointLocation();
    }

    @Override
    public CompletedCheckpointStorageLocation resolveCheckpoint(String pointer) throws IOException {
        return storage.resolveCheckpoint(pointer);
    }

    @Override
    public void initializeBaseLocationsForCheckpoint() throws IOException {
        storage.initializeBaseLocationsForCheckpoint();
    }

    @Override
    public CheckpointStorageLocation initializeLocationForCheckpoint(long checkpointId)
            throws IOException {
        return storage.initializeLocationForCheckpoint(checkpointId);
    }

    @Override
    public CheckpointStorageLocation initializeLocationForSavepoint(
            long checkpointId, @Nullable String externalLocation) throws IOException {
        return storage.initializeLocationForSavepoint(checkpointId, externalLocation);
    }
}
