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

import java.util.List;
import java.util.function.Supplier;
import javax.annotation.Nullable;
import javax.annotation.concurrent.GuardedBy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendLocalHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;

/**
 * The copies of a checkpoint on the local disk. Flink's local store takes only one materialization
 * id per checkpoint of a task, and deletes the directory of that id when no checkpoint has it any
 * more. The operators of a chain materialize independently, so theirs differ, and an aborted
 * checkpoint may be the first with a base that later ones need. Therefore all report the same id,
 * of a directory that does not exist, and the copies of a base are counted and deleted here.
 */
public final class LocalCheckpoint extends ChangelogStateBackendLocalHandle {

    private static final long serialVersionUID = 1L;

    /** No snapshot of the delegate has this id. */
    private static final long NO_DIRECTORY = -1;

    private final long baseId;

    /** Null after a restart of the TaskManager, until a task restores the copies. */
    @GuardedBy("this")
    @Nullable
    private transient BaseReference base;

    /**
     * Creates a local checkpoint.
     *
     * @param snapshots copies of the base
     * @param logs copies of the changelogs
     * @param remote the checkpoint that is sent to the JobManager
     * @param base reference whose local copies are dropped when Flink drops this checkpoint
     */
    public LocalCheckpoint(
            List<KeyedStateHandle> snapshots,
            List<ChangelogStateHandle> logs,
            ChangelogStateBackendHandleImpl remote,
            BaseReference base) {
        super(snapshots, logs, remote);
        this.baseId = remote.getMaterializationID();
        this.base = base;
    }

    /** Returns the materialization id of a checkpoint's base. */
    public static long baseId(ChangelogStateBackendHandle handle) {
        return handle instanceof LocalCheckpoint
                ? ((LocalCheckpoint) handle).baseId
                : handle.getMaterializationID();
    }

    /**
     * Returns the references to the copies. If there are none, as after a restart of the
     * TaskManager, they are {@code created}, with one for this checkpoint.
     */
    public synchronized BaseReferences references(Supplier<BaseReferences> created) {
        if (base == null) {
            base = created.get().tryRetain().orElseThrow();
        }
        return base.references();
    }

    @Override
    public long getMaterializationID() {
        return NO_DIRECTORY;
    }

    /** Deletes the copies if no task has restored them and nobody else can have references. */
    @Override
    public void discardState() throws Exception {
        BaseReference dropped;
        synchronized (this) {
            dropped = base;
        }
        if (dropped == null) {
            StateUtil.bestEffortDiscardAllStateObjects(getMaterializedStateHandles());
        } else {
            dropped.dropLocal();
        }
    }
}
