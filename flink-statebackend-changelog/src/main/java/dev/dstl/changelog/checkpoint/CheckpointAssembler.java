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

import dev.dstl.changelog.materialization.BaseReference;
import dev.dstl.changelog.materialization.LocalCheckpoint;
import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.StateParts;
import dev.dstl.changelog.metrics.CheckpointMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;

/**
 * Assembles the handle of a checkpoint from base, restored changelogs and new changelog.
 * Thread-safe.
 */
public final class CheckpointAssembler {

    private final KeyGroupRange keyGroups;
    private final CheckpointMetrics metrics;
    private final Consumer<ChangelogStateBackendHandle> listener;

    /**
     * Creates an assembler.
     *
     * @param keyGroups of the backend
     * @param metrics receives the sizes
     * @param listener called with every checkpoint that has state, on the thread that assembles it
     */
    public CheckpointAssembler(
            KeyGroupRange keyGroups,
            CheckpointMetrics metrics,
            Consumer<ChangelogStateBackendHandle> listener) {
        this.keyGroups = keyGroups;
        this.metrics = metrics;
        this.listener = listener;
    }

    /**
     * Assembles a checkpoint. A local snapshot is added only if it is complete, since a task that
     * restores from it reads nothing else.
     *
     * @param overtakable whether the JobManager may get this checkpoint after a later one that it
     *     has completed, so that it has forgotten files that only earlier ones contained; asked
     *     when it is sent, on any thread
     * @param reference to the base; its local copies are dropped if the checkpoint has no local
     *     part
     * @param log result of the changelog storage; null or empty if there is no changelog
     * @param drop called on any thread if Flink discards the checkpoint instead of sending it
     */
    public SnapshotResult<KeyedStateHandle> assemble(
            long checkpointId,
            MaterializedBase base,
            BooleanSupplier overtakable,
            BaseReference reference,
            @Nullable SnapshotResult<? extends ChangelogStateHandle> log,
            Runnable drop) {
        ChangelogStateHandle newLog = log == null ? null : log.getJobManagerOwnedSnapshot();
        boolean hasNewLog = newLog != null && newLog.getStateSize() > 0;
        if (base.remote().isEmpty() && !hasNewLog) {
            metrics.checkpointAssembled(null);
            reference.dropLocal();
            return SnapshotResult.empty();
        }
        ReportedCheckpoint handle =
                new ReportedCheckpoint(
                        base,
                        hasNewLog ? append(base.remote(), newLog) : base.remote().logs(),
                        keyGroups,
                        checkpointId,
                        hasNewLog ? newLog.getCheckpointedSize() : 0L,
                        overtakable,
                        drop);
        metrics.checkpointAssembled(handle);
        listener.accept(handle);

        ChangelogStateHandle localLog = hasNewLog ? log.getTaskLocalSnapshot() : null;
        boolean localIsComplete =
                covers(base.local(), base.remote()) && (localLog != null || !hasNewLog);
        if (!localIsComplete) {
            reference.dropLocal();
            return SnapshotResult.of(handle);
        }
        return SnapshotResult.withLocalState(
                handle,
                new LocalCheckpoint(
                        base.local().snapshots(),
                        hasNewLog ? append(base.local(), localLog) : base.local().logs(),
                        handle,
                        reference));
    }

    private static List<ChangelogStateHandle> append(StateParts base, ChangelogStateHandle log) {
        List<ChangelogStateHandle> logs = new ArrayList<>(base.logs());
        logs.add(log);
        return logs;
    }

    private static boolean covers(StateParts local, StateParts remote) {
        return local.snapshots().size() == remote.snapshots().size()
                && local.logs().size() == remote.logs().size();
    }
}
