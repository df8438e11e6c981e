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

import dev.dstl.changelog.materialization.MaterializedBase;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;

/**
 * The handle of a checkpoint on the TaskManager that took it. If it is discarded, it was cancelled
 * before it was sent, so the TaskManager can delete its segments. Flink's own handle leaves such
 * files behind.
 *
 * <p>Serialized, it becomes Flink's own handle. A JobManager in the same process registers this
 * object before any other use; from then on, discarding has no effect.
 */
final class ReportedCheckpoint extends ChangelogStateBackendHandleImpl {

    private static final long serialVersionUID = 1L;

    private final transient MaterializedBase base;
    private final transient BooleanSupplier overtakable;

    /** Null once the checkpoint has arrived or was dropped. */
    private final transient AtomicReference<Runnable> drop;

    /**
     * Creates a handle.
     *
     * @param logs restored changelogs and the new one
     * @param newBytes size of what was uploaded for this checkpoint, in bytes
     * @param overtakable asked when it is sent whether the JobManager may have forgotten files
     * @param drop called on any thread if the checkpoint will never be sent
     */
    ReportedCheckpoint(
            MaterializedBase base,
            List<ChangelogStateHandle> logs,
            KeyGroupRange keyGroups,
            long checkpointId,
            long newBytes,
            BooleanSupplier overtakable,
            Runnable drop) {
        super(base.remote().snapshots(), logs, keyGroups, checkpointId, base.id(), newBytes);
        this.base = base;
        this.overtakable = overtakable;
        this.drop = new AtomicReference<>(drop);
    }

    @Override
    public void registerSharedStates(SharedStateRegistry registry, long checkpointId) {
        drop.set(null);
        super.registerSharedStates(registry, checkpointId);
    }

    @Override
    public void discardState() {
        Runnable action = drop.getAndSet(null);
        if (action != null) {
            action.run();
        }
    }

    private Object writeReplace() {
        return ChangelogStateBackendHandleImpl.restore(
                (overtakable.getAsBoolean() ? base.resolved() : base.remote()).snapshots(),
                getNonMaterializedStateHandles(),
                getKeyGroupRange(),
                getCheckpointId(),
                getMaterializationID(),
                getCheckpointedSize(),
                getStateHandleId());
    }
}
