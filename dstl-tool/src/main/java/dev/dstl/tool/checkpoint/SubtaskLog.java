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

/**
 * A changelog handle of one subtask: of its own changelog, or of a restored one that it still
 * needs. Immutable.
 */
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

    /**
     * Returns the name of a segment in messages: its path, or its name if it travels inline in the
     * checkpoint.
     */
    public static String nameOf(StreamStateHandle segment) {
        return segment instanceof FileStateHandle
                ? ((FileStateHandle) segment).getFilePath().toString()
                : segment.getStreamStateHandleID().getKeyString();
    }

    /**
     * Returns the names of all segments in files. A name identifies a segment even after it was
     * moved.
     *
     * @throws ToolException if the handle contains a file that is not named like a segment, so that
     *     it cannot be told apart from orphans
     */
    Set<SegmentName> segmentNames() throws ToolException {
        Set<SegmentName> names = new HashSet<>();
        for (Tuple2<StreamStateHandle, Long> position : positions) {
            if (isDstl() && position.f0.asBytesIfInMemory().isEmpty()) {
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

    /** Returns the id of the operator. */
    public OperatorID operatorId() {
        return operatorId;
    }

    /** Returns the index of the subtask. */
    public int subtask() {
        return subtask;
    }

    /** Returns the key groups to read. */
    public KeyGroupRange keyGroups() {
        return keyGroups;
    }

    /** Returns the identifier of the storage that wrote the changelog. */
    public String storage() {
        return storage;
    }

    /** Returns whether DSTL wrote the changelog. */
    public boolean isDstl() {
        return DstlHandleReader.STORAGE_IDENTIFIER.equals(storage);
    }

    /** Returns segments and the offsets of frames in them, in replay order. */
    public List<Tuple2<StreamStateHandle, Long>> positions() {
        return positions;
    }
}
