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

package dev.dstl.spillable.incremental;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/** A checkpoint that has begun and is neither complete nor aborted. */
final class PendingCheckpoint {

    /** The state when it began. */
    final ModelState model;

    final List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> snapshots = new ArrayList<>();
    final List<CompletableFuture<Void>> writing = new ArrayList<>();
    boolean acknowledged;

    PendingCheckpoint(ModelState model) {
        this.model = model;
    }

    /** Waits until all subtasks have written their parts. */
    void finish() {
        writing.forEach(CompletableFuture::join);
    }

    List<KeyedStateHandle> handles() throws Exception {
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot : snapshots) {
            KeyedStateHandle handle = snapshot.get().getJobManagerOwnedSnapshot();
            if (handle != null) {
                handles.add(handle);
            }
        }
        return handles;
    }

    void discard() throws Exception {
        for (RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot : snapshots) {
            snapshot.get().discardState();
        }
    }
}
