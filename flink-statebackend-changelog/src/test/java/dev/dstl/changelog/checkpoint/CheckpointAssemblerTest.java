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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.RecordedMetrics;
import dev.dstl.changelog.materialization.BaseReference;
import dev.dstl.changelog.materialization.BaseReferences;
import dev.dstl.changelog.materialization.MaterializedBase;
import dev.dstl.changelog.materialization.StateParts;
import dev.dstl.changelog.metrics.CheckpointMetrics;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.ChangelogTestUtils;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendLocalHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.Test;

class CheckpointAssemblerTest {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);

    private final RecordedMetrics metrics = new RecordedMetrics();
    private final CheckpointAssembler assembler =
            new CheckpointAssembler(KEY_GROUPS, new CheckpointMetrics(metrics), handle -> {});

    @Test
    void noState_isNoHandle() {
        SnapshotResult<KeyedStateHandle> result =
                assembler.assemble(
                        1,
                        base(StateParts.EMPTY, StateParts.EMPTY),
                        () -> false,
                        reference(),
                        SnapshotResult.of(log(0, 0)),
                        () -> {});

        assertThat(result.getJobManagerOwnedSnapshot()).isNull();
    }

    @Test
    void handle_isBaseThenRestoredLogsThenNewLog() {
        KeyedStateHandle snapshot = ChangelogTestUtils.createDummyIncrementalStateHandle(1);
        ChangelogStateHandle restored = log(100, 0);
        ChangelogStateHandle fresh = log(30, 20);

        ChangelogStateBackendHandle handle =
                (ChangelogStateBackendHandle)
                        assembler
                                .assemble(
                                        9,
                                        base(
                                                new StateParts(
                                                        List.of(snapshot), List.of(restored)),
                                                StateParts.EMPTY),
                                        () -> false,
                                        reference(),
                                        SnapshotResult.of(fresh),
                                        () -> {})
                                .getJobManagerOwnedSnapshot();

        assertThat(handle.getMaterializedStateHandles()).containsExactly(snapshot);
        assertThat(handle.getNonMaterializedStateHandles()).containsExactly(restored, fresh);
        assertThat(handle.getCheckpointId()).isEqualTo(9);
        assertThat(handle.getMaterializationID()).isEqualTo(4);
        assertThat(handle.getCheckpointedSize()).isEqualTo(20);
        assertThat(metrics.value("ChangelogStateBackend.lastFullSizeOfNonMaterialization"))
                .isEqualTo(130);
        assertThat(metrics.value("ChangelogStateBackend.lastIncSizeOfNonMaterialization"))
                .isEqualTo(20);
        assertThat(metrics.value("ChangelogStateBackend.lastFullSizeOfMaterialization"))
                .isEqualTo(snapshot.getStateSize());
        assertThat(metrics.value("ChangelogStateBackend.lastIncSizeOfMaterialization"))
                .isEqualTo(snapshot.getCheckpointedSize());
    }

    @Test
    void localPart_isReportedOnlyIfItIsComplete() {
        KeyedStateHandle snapshot = ChangelogTestUtils.createDummyIncrementalStateHandle(1);
        StateParts parts = StateParts.ofSnapshot(snapshot);

        assertThat(local(base(parts, parts), SnapshotResult.withLocalState(log(3, 3), log(3, 3))))
                .isInstanceOf(ChangelogStateBackendLocalHandle.class);
        assertThat(local(base(parts, parts), SnapshotResult.empty()))
                .as("nothing new to have a copy of")
                .isNotNull();
        assertThat(
                        local(
                                base(parts, StateParts.EMPTY),
                                SnapshotResult.withLocalState(log(3, 3), log(3, 3))))
                .as("no copy of the base")
                .isNull();
        assertThat(local(base(parts, parts), SnapshotResult.of(log(3, 3))))
                .as("no copy of the new changelog")
                .isNull();
        assertThat(
                        local(
                                base(new StateParts(List.of(snapshot), List.of(log(3, 3))), parts),
                                SnapshotResult.empty()))
                .as("no copy of the restored changelog")
                .isNull();
    }

    @Nullable
    private KeyedStateHandle local(
            MaterializedBase base, SnapshotResult<? extends ChangelogStateHandle> log) {
        return assembler
                .assemble(1, base, () -> false, reference(), log, () -> {})
                .getTaskLocalSnapshot();
    }

    private static BaseReference reference() {
        return new BaseReferences(() -> {}, () -> {}).tryRetain().orElseThrow();
    }

    private static MaterializedBase base(StateParts remote, StateParts local) {
        return new MaterializedBase(
                4, 3, SequenceNumber.of(1), SequenceNumber.of(1), remote, local);
    }

    private static ChangelogStateHandle log(long size, long newBytes) {
        return new ChangelogStateHandleStreamImpl(List.of(), KEY_GROUPS, size, newBytes, "dstl");
    }
}
