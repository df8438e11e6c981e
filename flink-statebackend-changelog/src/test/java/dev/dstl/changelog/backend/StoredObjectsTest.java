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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.DstlStateBackend;
import dev.dstl.changelog.materialization.LocalCheckpoint;
import dev.dstl.log.segment.SegmentCopy;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

/**
 * Objects that Flink 1.20 stores in Java's serialized form for later releases: the state backend
 * that a job was given in code, in the job of high availability; a local checkpoint, in the working
 * directory of a TaskManager. Class names and fields of these must never change.
 */
class StoredObjectsTest {

    private static <T> T golden(Class<T> type, String name)
            throws IOException, ClassNotFoundException {
        try (InputStream file = StoredObjectsTest.class.getResourceAsStream("/golden/" + name)) {
            Object stored =
                    InstantiationUtil.deserializeObject(
                            file.readAllBytes(), StoredObjectsTest.class.getClassLoader());
            return type.cast(stored);
        }
    }

    @Test
    void stateBackendThatHighAvailabilityStoredInVersion1_isRead() throws Exception {
        DstlStateBackend backend = golden(DstlStateBackend.class, "dstl-state-backend-v1.bin");
        assertThat(backend.getDelegatedStateBackend()).isInstanceOf(HashMapStateBackend.class);
    }

    @Test
    void localCheckpointThatFlinkStoredInVersion1_isRead() throws Exception {
        LocalCheckpoint local = golden(LocalCheckpoint.class, "local-checkpoint-v1.bin");
        assertThat(local.getCheckpointId()).isEqualTo(7);
        assertThat(LocalCheckpoint.baseId(local)).isEqualTo(3);
        assertThat(local.getMaterializedStateHandles()).isEmpty();
        assertThat(local.getNonMaterializedStateHandles()).hasSize(1);
        ChangelogStateHandleStreamImpl changelog =
                (ChangelogStateHandleStreamImpl) local.getNonMaterializedStateHandles().get(0);
        assertThat(changelog.getKeyGroupRange()).isEqualTo(KeyGroupRange.of(2, 5));
        List<Tuple2<StreamStateHandle, Long>> frames = changelog.getHandlesAndOffsets();
        assertThat(frames).hasSize(1);
        assertThat(frames.get(0).f1).isEqualTo(12);
        SegmentCopy copy = (SegmentCopy) frames.get(0).f0;
        assertThat(copy.copy()).isEqualTo(new ByteStreamStateHandle("copy", new byte[] {1}));
        assertThat(copy.original())
                .isEqualTo(new ByteStreamStateHandle("original", new byte[] {1, 2}));
        ChangelogStateHandleStreamImpl remote =
                (ChangelogStateHandleStreamImpl)
                        local.getRemoteNonMaterializedStateHandles().get(0);
        assertThat(remote.getHandlesAndOffsets())
                .containsExactly(
                        Tuple2.of(new ByteStreamStateHandle("original", new byte[] {1, 2}), 12L));
    }
}
