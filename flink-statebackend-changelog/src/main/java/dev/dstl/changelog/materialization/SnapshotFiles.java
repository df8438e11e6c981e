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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import javax.annotation.concurrent.GuardedBy;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * The files that one snapshot of the delegate writes, so that they can be deleted after a failure:
 * if a snapshot is cancelled or fails after it has closed a file, Flink drops its result. Does not
 * include files shared with earlier snapshots. Thread-safe.
 */
final class SnapshotFiles implements CheckpointStreamFactory {

    private final CheckpointStreamFactory streams;
    private final Executor afterAWhile;

    private final AtomicLong progress = new AtomicLong();

    private final Object lock = new Object();

    @GuardedBy("lock")
    private List<StreamStateHandle> written = new ArrayList<>();

    @GuardedBy("lock")
    private boolean discarded;

    /**
     * Creates an empty set of files. All arguments stay the caller's.
     *
     * @param afterAWhile runs actions later, on threads that may block
     */
    SnapshotFiles(CheckpointStreamFactory streams, Executor afterAWhile) {
        this.streams = streams;
        this.afterAWhile = afterAWhile;
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        synchronized (lock) {
            failIfDiscarded();
        }
        CheckpointStateOutputStream stream = streams.createCheckpointStateOutputStream(scope);
        progress.incrementAndGet();
        return new BufferedSnapshotStream(new SnapshotStream(stream, new Written(), afterAWhile));
    }

    /** Returns a value that changes whenever the store has answered a call. */
    long progress() {
        return progress.get();
    }

    @Override
    public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope) {
        return false;
    }

    @Override
    public List<StreamStateHandle> duplicate(
            List<StreamStateHandle> handles, CheckpointedStateScope scope) {
        throw new UnsupportedOperationException("Files of a base are written, never duplicated");
    }

    /**
     * Deletes all files, and from now on every file that is still being written as soon as it is
     * closed. For snapshots whose result nobody received. May block.
     *
     * @throws Exception if a file could not be deleted; deletion of the others was still tried
     */
    void discard() throws Exception {
        List<StreamStateHandle> deleted;
        synchronized (lock) {
            discarded = true;
            deleted = written;
            written = new ArrayList<>();
        }
        Deletion.ofEach(deleted, SnapshotFiles::delete);
    }

    private void add(StreamStateHandle handle) throws IOException {
        synchronized (lock) {
            if (!discarded) {
                written.add(handle);
                return;
            }
        }
        try {
            delete(handle);
        } catch (Exception e) {
            throw new IOException("A file of a discarded snapshot stays behind: " + handle, e);
        }
        throw discardedSnapshot();
    }

    @GuardedBy("lock")
    private void failIfDiscarded() throws IOException {
        if (discarded) {
            throw discardedSnapshot();
        }
    }

    private static IOException discardedSnapshot() {
        return new IOException("The snapshot has been discarded");
    }

    /**
     * Deletes with the interrupt flag cleared, since the thread of a cancelled task is interrupted.
     */
    private static void delete(StreamStateHandle handle) throws Exception {
        boolean interrupted = Thread.interrupted();
        try {
            handle.discardState();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final class Written implements SnapshotStream.Written {

        @Override
        public void add(StreamStateHandle handle) throws IOException {
            SnapshotFiles.this.add(handle);
        }

        @Override
        public void progressed() {
            progress.incrementAndGet();
        }
    }
}
