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

package dev.dstl.changelog.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.UUID;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.filemerging.LogicalFile.LogicalFileId;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.junit.jupiter.api.Test;

/** Which restored snapshots may be part of the next checkpoint. */
class RestoredHandlesTest {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);
    private static final Path FILE = new Path("file:/savepoint/000011");

    /** Returns the handle of a native savepoint of incremental RocksDB. */
    private static IncrementalRemoteKeyedStateHandle inSavepoint() {
        return snapshot(new RelativeFileStateHandle(FILE, "000011", 1));
    }

    private static IncrementalRemoteKeyedStateHandle snapshot(StreamStateHandle shared) {
        StreamStateHandle own = new FileStateHandle(new Path("file:/savepoint/metadata"), 1);
        return snapshot(shared, own, own);
    }

    private static IncrementalRemoteKeyedStateHandle snapshot(
            StreamStateHandle shared, StreamStateHandle owned, StreamStateHandle metadata) {
        return new IncrementalRemoteKeyedStateHandle(
                UUID.randomUUID(),
                KEY_GROUPS,
                1,
                List.of(HandleAndLocalPath.of(shared, "000011")),
                List.of(HandleAndLocalPath.of(owned, "CURRENT")),
                metadata);
    }

    @Test
    void sharedFilesInTheDirectoryOfASavepoint_areNotReferredToAgain() {
        assertThat(RestoredHandles.of(KEY_GROUPS, List.of(inSavepoint())).needFullSnapshot())
                .isTrue();
    }

    @Test
    void sharedFilesOfACheckpoint_areReferredToAgain() {
        assertThat(
                        RestoredHandles.of(
                                        KEY_GROUPS, List.of(snapshot(new FileStateHandle(FILE, 1))))
                                .needFullSnapshot())
                .isFalse();
    }

    @Test
    void mergedFilesOfACheckpoint_areNotReferredToAgain() {
        StreamStateHandle merged = merged();
        StreamStateHandle file = new FileStateHandle(FILE, 1);
        List<KeyedStateHandle> withMergedFiles =
                List.of(
                        snapshot(merged, file, file),
                        snapshot(file, merged, file),
                        snapshot(file, file, merged),
                        new KeyGroupsStateHandle(
                                new KeyGroupRangeOffsets(KEY_GROUPS, new long[8]), merged));
        assertThat(withMergedFiles)
                .allSatisfy(
                        snapshot -> {
                            assertThat(needFullSnapshot(snapshot)).isTrue();
                            assertThat(needFullSnapshot(baseOfAChangelog(snapshot))).isTrue();
                        });
    }

    @Test
    void fullCheckpoint_isReferredToAgain() {
        KeyedStateHandle full =
                new KeyGroupsStateHandle(
                        new KeyGroupRangeOffsets(KEY_GROUPS, new long[8]),
                        new FileStateHandle(FILE, 1));
        assertThat(needFullSnapshot(full)).isFalse();
        assertThat(needFullSnapshot(baseOfAChangelog(full))).isFalse();
    }

    /** Returns a handle as Flink writes it with file merging, which DSTL does not use. */
    private static StreamStateHandle merged() {
        return new SegmentFileStateHandle(
                FILE, 0, 1, CheckpointedStateScope.SHARED, LogicalFileId.generateRandomId());
    }

    private static KeyedStateHandle baseOfAChangelog(KeyedStateHandle snapshot) {
        return new ChangelogStateBackendHandleImpl(
                List.of(snapshot), List.of(), KEY_GROUPS, 7, 1, 1);
    }

    private static boolean needFullSnapshot(KeyedStateHandle handle) {
        return RestoredHandles.of(KEY_GROUPS, List.of(handle)).needFullSnapshot();
    }

    /** Shows why the handle must be converted: the JobManager would reject it. */
    @Test
    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    void jobManager_refusesAFileThatItKnowsByARelativePath() throws Exception {
        IncrementalRemoteKeyedStateHandle savepoint = inSavepoint();
        ChangelogStateBackendHandle acknowledged =
                ChangelogStateBackendHandleImpl.getChangelogStateBackendHandle(savepoint);
        try (SharedStateRegistry registry = new SharedStateRegistryImpl()) {
            savepoint.registerSharedStates(registry, 1);
            assertThatThrownBy(() -> acknowledged.registerSharedStates(registry, 2))
                    .isInstanceOf(IllegalStateException.class);
        }
    }
}
