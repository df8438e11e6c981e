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

package dev.dstl.tool.checkpoint;

import dev.dstl.tool.output.ToolException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;

/** The changelogs and base sizes of a checkpoint, from its metadata. Immutable. */
public final class CheckpointContent {

    private final Path directory;
    private final long checkpointId;
    private final boolean changelog;
    private final long baseBytes;
    private final List<SubtaskLog> logs;

    private CheckpointContent(
            Path directory,
            long checkpointId,
            boolean changelog,
            long baseBytes,
            List<SubtaskLog> logs) {
        this.directory = directory;
        this.checkpointId = checkpointId;
        this.changelog = changelog;
        this.baseBytes = baseBytes;
        this.logs = Collections.unmodifiableList(logs);
    }

    static CheckpointContent of(Path directory, CheckpointMetadata metadata) {
        boolean changelog = false;
        long baseBytes = 0;
        List<SubtaskLog> logs = new ArrayList<>();
        for (OperatorState operator : metadata.getOperatorStates()) {
            for (Map.Entry<Integer, OperatorSubtaskState> subtask :
                    operator.getSubtaskStates().entrySet()) {
                for (KeyedStateHandle handle : subtask.getValue().getManagedKeyedState()) {
                    if (handle instanceof ChangelogStateBackendHandle) {
                        ChangelogStateBackendHandle parts = (ChangelogStateBackendHandle) handle;
                        changelog = true;
                        for (KeyedStateHandle base : parts.getMaterializedStateHandles()) {
                            baseBytes += base.getStateSize();
                        }
                        for (ChangelogStateHandle log : parts.getNonMaterializedStateHandles()) {
                            logs.add(
                                    SubtaskLog.of(operator.getOperatorID(), subtask.getKey(), log));
                        }
                    }
                }
            }
        }
        return new CheckpointContent(
                directory, metadata.getCheckpointId(), changelog, baseBytes, logs);
    }

    /** Returns the directory of the checkpoint. */
    public Path directory() {
        return directory;
    }

    /** Returns the checkpoint id. */
    public long checkpointId() {
        return checkpointId;
    }

    /** Returns the total size of all base snapshots in bytes, as recorded in the metadata. */
    public long baseBytes() {
        return baseBytes;
    }

    /** Returns the changelogs of all subtasks, including those of other storages. */
    public List<SubtaskLog> logs() {
        return logs;
    }

    /**
     * Returns the storages other than DSTL that wrote changelogs of this checkpoint; usually none.
     */
    public List<String> foreignStorages() {
        TreeSet<String> storages = new TreeSet<>();
        for (SubtaskLog log : logs) {
            if (!log.isDstl()) {
                storages.add(log.storage());
            }
        }
        return new ArrayList<>(storages);
    }

    /**
     * Rejects a checkpoint that this tool cannot inspect.
     *
     * @throws ToolException if there is no changelog, or only changelogs of other storages
     */
    public void requireOurs() throws ToolException {
        if (!changelog) {
            throw new ToolException(
                    String.format(
                            "Checkpoint %s has no changelog: it was written with"
                                    + " state.changelog.enabled: false, or is a savepoint, which"
                                    + " never has one.",
                            directory));
        }
        List<String> foreign = foreignStorages();
        if (!foreign.isEmpty() && logs.stream().noneMatch(SubtaskLog::isDstl)) {
            throw new ToolException(
                    String.format(
                            "The changelog of checkpoint %s was written by the storage '%s', which"
                                    + " is not DSTL's, and cannot be read by this tool.",
                            directory, String.join("', '", foreign)));
        }
    }
}
