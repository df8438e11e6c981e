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

import dev.dstl.log.api.RestoredFiles;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.DirectoryStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

class RetriedSnapshotsTest {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(2, 5);

    private final FileStateHandle shared = new FileStateHandle(new Path("s3://b/shared"), 10);
    private final FileStateHandle own = new FileStateHandle(new Path("s3://b/own"), 11);
    private final FileStateHandle meta = new FileStateHandle(new Path("s3://b/meta"), 12);
    private final ByteStreamStateHandle inMemory = new ByteStreamStateHandle("m", new byte[] {1});
    private final RelativeFileStateHandle relative =
            new RelativeFileStateHandle(new Path("s3://b/relative"), "relative", 13);

    private final IncrementalRemoteKeyedStateHandle incremental =
            new IncrementalRemoteKeyedStateHandle(
                    UUID.randomUUID(),
                    KEY_GROUPS,
                    4,
                    List.of(
                            HandleAndLocalPath.of(shared, "1.sst"),
                            HandleAndLocalPath.of(relative, "2.sst")),
                    List.of(
                            HandleAndLocalPath.of(own, "CURRENT"),
                            HandleAndLocalPath.of(inMemory, "MANIFEST")),
                    meta,
                    20);

    private final List<FileStateHandle> opened = new ArrayList<>();

    @Test
    void filesOfAnIncrementalSnapshot_areOpenedByTheStorage() throws Exception {
        try (RetriedSnapshots snapshots = retried(true)) {
            IncrementalRemoteKeyedStateHandle wrapped = wrap(snapshots);

            assertThat(wrapped).isEqualTo(incremental);
            assertThat(wrapped.getBackendIdentifier())
                    .isEqualTo(incremental.getBackendIdentifier());
            assertThat(wrapped.getCheckpointId()).isEqualTo(4);
            assertThat(wrapped.getKeyGroupRange()).isEqualTo(KEY_GROUPS);
            assertThat(wrapped.getCheckpointedSize()).isEqualTo(20);
            assertThat(wrapped.getStateSize()).isEqualTo(incremental.getStateSize());
            assertThat(wrapped.getSharedState()).isEqualTo(incremental.getSharedState());
            assertThat(wrapped.getPrivateState()).isEqualTo(incremental.getPrivateState());

            for (StreamStateHandle file :
                    List.of(
                            wrapped.getSharedState().get(0).getHandle(),
                            wrapped.getPrivateState().get(0).getHandle(),
                            wrapped.getMetaDataStateHandle())) {
                file.openInputStream().close();
            }
            assertThat(opened).hasSize(3);
            assertThat(opened.get(0)).isSameAs(shared);
            assertThat(opened.get(1)).isSameAs(own);
            assertThat(opened.get(2)).isSameAs(meta);
        }
    }

    @Test
    void onlyPlainFiles_areWrapped() {
        try (RetriedSnapshots snapshots = retried(true)) {
            IncrementalRemoteKeyedStateHandle wrapped = wrap(snapshots);
            assertThat(wrapped.getSharedState().get(1).getHandle()).isSameAs(relative);
            assertThat(wrapped.getPrivateState().get(1).getHandle()).isSameAs(inMemory);
        }
    }

    /** Flink's RocksDB backend keeps the elements of the list in a list of its own. */
    @Test
    void whatADelegateKeeps_refersToTheFilesThemselves_afterTheRestore() {
        List<HandleAndLocalPath> kept;
        try (RetriedSnapshots snapshots = retried(true)) {
            kept = List.copyOf(wrap(snapshots).getSharedState());
            assertThat(kept.get(0).getHandle()).isNotSameAs(shared);
        }
        assertThat(kept.get(0).getHandle()).isSameAs(shared);
        assertThat(kept.get(1).getHandle()).isSameAs(relative);
    }

    @Test
    void restoredHandle_isLeftAsItIs() {
        try (RetriedSnapshots snapshots = retried(true)) {
            wrap(snapshots);
            assertThat(incremental.getSharedState().get(0).getHandle()).isSameAs(shared);
            assertThat(incremental.getPrivateState().get(0).getHandle()).isSameAs(own);
            assertThat(incremental.getMetaDataStateHandle()).isSameAs(meta);
        }
    }

    @Test
    void wrappedFileThatLeavesTheProcess_isTheFileItself() throws Exception {
        try (RetriedSnapshots snapshots = retried(true)) {
            IncrementalRemoteKeyedStateHandle sent = InstantiationUtil.clone(wrap(snapshots));
            assertThat(sent.getSharedState().get(0).getHandle())
                    .isExactlyInstanceOf(FileStateHandle.class)
                    .isEqualTo(shared);
            assertThat(sent.getMetaDataStateHandle())
                    .isExactlyInstanceOf(FileStateHandle.class)
                    .isEqualTo(meta);
        }
    }

    @Test
    void fullSnapshots_keepTheirKindAndPlaces() throws Exception {
        KeyGroupRangeOffsets offsets =
                new KeyGroupRangeOffsets(KEY_GROUPS, new long[] {0, 1, 2, 3});
        for (KeyGroupsStateHandle full :
                List.of(
                        new KeyGroupsStateHandle(offsets, own),
                        new KeyGroupsSavepointStateHandle(offsets, own))) {
            try (RetriedSnapshots snapshots = retried(false)) {
                KeyedStateHandle wrapped = snapshots.of(List.of(full)).get(0);
                assertThat(wrapped).isExactlyInstanceOf(full.getClass());
                KeyGroupsStateHandle restored = (KeyGroupsStateHandle) wrapped;
                assertThat(restored.getGroupRangeOffsets()).isEqualTo(offsets);
                opened.clear();
                restored.openInputStream().close();
                assertThat(opened).containsExactly(own);
            }
        }
    }

    @Test
    void incrementalSnapshots_ofDelegatesThatKeepMoreOfThem_areGivenAsTheyAre() {
        IncrementalLocalKeyedStateHandle local =
                new IncrementalLocalKeyedStateHandle(
                        UUID.randomUUID(),
                        1,
                        new DirectoryStateHandle(Paths.get("state"), 0),
                        KEY_GROUPS,
                        meta,
                        List.of());
        try (RetriedSnapshots snapshots = retried(false)) {
            assertThat(snapshots.of(List.of(incremental)).get(0)).isSameAs(incremental);
        }
        try (RetriedSnapshots snapshots = retried(true)) {
            assertThat(snapshots.of(List.of(local)).get(0)).isSameAs(local);
        }
    }

    /**
     * RocksDB's restore closes all streams after one failure, and reports what fails first then.
     */
    @Test
    void failureOfADelegate_isCausedByTheFileThatCannotBeRead() {
        IOException gone = new IOException("File s3://b/own is gone");
        Exception reported = new BackendBuildingException("Failed", new IOException("closed"));
        try (RetriedSnapshots snapshots = failing(gone)) {
            assertThat(snapshots.failure(reported))
                    .hasMessage("File s3://b/own is gone")
                    .hasCause(gone)
                    .hasSuppressedException(reported);

            Exception named = new BackendBuildingException("Failed", new IOException(gone));
            assertThat(snapshots.failure(named)).isSameAs(named);
        }
        try (RetriedSnapshots snapshots = failing(null)) {
            assertThat(snapshots.failure(reported)).isSameAs(reported);
        }
    }

    private static RetriedSnapshots failing(@Nullable Exception failure) {
        return new RetriedSnapshots(
                new RestoredFiles() {
                    @Override
                    public FSDataInputStream open(FileStateHandle file) throws IOException {
                        throw new IOException("Not expected: " + file);
                    }

                    @Nullable
                    @Override
                    public Exception failure() {
                        return failure;
                    }
                },
                true);
    }

    private IncrementalRemoteKeyedStateHandle wrap(RetriedSnapshots snapshots) {
        return (IncrementalRemoteKeyedStateHandle) snapshots.of(List.of(incremental)).get(0);
    }

    private RetriedSnapshots retried(boolean incrementalToo) {
        return new RetriedSnapshots(
                file -> {
                    opened.add(file);
                    return inMemory.openInputStream();
                },
                incrementalToo);
    }
}
