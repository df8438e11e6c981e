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

import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.store.SegmentName;
import dev.dstl.tool.output.ToolException;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/** The log of one subtask, or what it still needs of that of a former run. Immutable. */
public final class SubtaskLog {

    private final OperatorID operatorId;
    private final int subtask;
    private final KeyGroupRange keyGroups;
    private final String storage;
    private final List<Tuple2<StreamStateHandle, Long>> positions;

    private SubtaskLog(
            OperatorID operatorId,
            int subtask,
            KeyGroupRange keyGroups,
            String storage,
            List<Tuple2<StreamStateHandle, Long>> positions) {
        this.operatorId = operatorId;
        this.subtask = subtask;
        this.keyGroups = keyGroups;
        this.storage = storage;
        this.positions = positions;
    }

    static SubtaskLog of(OperatorID operatorId, int subtask, ChangelogStateHandle handle) {
        return new SubtaskLog(
                operatorId,
                subtask,
                handle.getKeyGroupRange(),
                handle.getStorageIdentifier(),
                handle instanceof ChangelogStateHandleStreamImpl
                        ? ((ChangelogStateHandleStreamImpl) handle).getHandlesAndOffsets()
                        : Collections.emptyList());
    }

    /** How a failure calls a segment: its path, or its name if it travels in the checkpoint. */
    public static String nameOf(StreamStateHandle segment) {
        return segment instanceof FileStateHandle
                ? ((FileStateHandle) segment).getFilePath().toString()
                : segment.getStreamStateHandleID().getKeyString();
    }

    /**
     * The names of all segments in files; a name identifies a segment even after it was moved.
     *
     * @throws ToolException if something is needed that is not named like a segment, so that it
     *     cannot be distinguished from garbage
     */
    Set<SegmentName> segmentNames() throws ToolException {
        Set<SegmentName> names = new HashSet<>();
        for (Tuple2<StreamStateHandle, Long> position : positions) {
            if (isOurs() && position.f0.asBytesIfInMemory().isEmpty()) {
                String file = nameOf(position.f0);
                names.add(
                        SegmentName.of(new Path(file))
                                .orElseThrow(
                                        () ->
                                                new ToolException(
                                                        String.format(
                                                                "A checkpoint needs %s, which is"
                                                                        + " not named like a segment:"
                                                                        + " use the tool of the release"
                                                                        + " that wrote it.",
                                                                file))));
            }
        }
        return names;
    }

    /** The operator, as the checkpoint identifies it. */
    public OperatorID operatorId() {
        return operatorId;
    }

    /** The subtask's number. */
    public int subtask() {
        return subtask;
    }

    /** The key groups that are to be read from it. */
    public KeyGroupRange keyGroups() {
        return keyGroups;
    }

    /** The identifier of the storage that wrote it. */
    public String storage() {
        return storage;
    }

    /** Whether our storage wrote it. */
    public boolean isOurs() {
        return DstlHandleReader.STORAGE_IDENTIFIER.equals(storage);
    }

    /** Segments and the offsets of frames in them, in the order of replay. */
    public List<Tuple2<StreamStateHandle, Long>> positions() {
        return positions;
    }
}
