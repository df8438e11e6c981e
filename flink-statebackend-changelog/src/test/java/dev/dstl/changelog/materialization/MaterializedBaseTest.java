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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.Test;

class MaterializedBaseTest {

    private final List<String> deleted = new ArrayList<>();

    @Test
    void fileWhoseDeletionEndsWithAnError_leavesNeitherOtherFilesNorLocalCopiesBehind() {
        MaterializedBase base =
                base(
                        parts("first", "second", "third"),
                        parts("first copy", "second copy", "third copy"));

        assertThatThrownBy(base::discard)
                .isInstanceOf(NoClassDefFoundError.class)
                .hasMessage("first")
                .satisfies(
                        thrown ->
                                assertThat(thrown.getSuppressed())
                                        .singleElement()
                                        .isInstanceOf(NoClassDefFoundError.class));
        assertThat(deleted).containsExactly("second", "third", "second copy", "third copy");
    }

    @Test
    void localCopyWhoseDeletionEndsWithAnError_leavesNoOtherCopyBehind() {
        MaterializedBase base = base(parts("file"), parts("first copy", "second copy"));

        assertThatThrownBy(base::discardLocalCopies).isInstanceOf(NoClassDefFoundError.class);
        assertThat(deleted).containsExactly("second copy");
    }

    @Test
    void snapshotThatIsDiscardedAfterItsUpload_leavesNoLocalCopyBehind() {
        FutureTask<SnapshotResult<KeyedStateHandle>> upload =
                new FutureTask<>(
                        () -> SnapshotResult.withLocalState(snapshot("first"), snapshot("copy")));
        upload.run();
        SequenceNumber begin = SequenceNumber.of(0);
        DelegateSnapshot snapshot =
                new DelegateSnapshot(
                        1,
                        0,
                        begin,
                        begin,
                        upload,
                        new SnapshotFiles(new MemCheckpointStreamFactory(1), Runnable::run),
                        SharedFiles.NONE);

        assertThatThrownBy(snapshot::discard).isInstanceOf(NoClassDefFoundError.class);
        assertThat(deleted).containsExactly("copy");
    }

    private static MaterializedBase base(StateParts remote, StateParts local) {
        SequenceNumber begin = SequenceNumber.of(0);
        return new MaterializedBase(1, 0, begin, begin, remote, local);
    }

    private StateParts parts(String... names) {
        List<KeyedStateHandle> snapshots = new ArrayList<>();
        for (String name : names) {
            snapshots.add(snapshot(name));
        }
        return new StateParts(snapshots, List.of());
    }

    private KeyedStateHandle snapshot(String name) {
        return new KeyGroupsStateHandle(
                new KeyGroupRangeOffsets(KeyGroupRange.of(0, 7)),
                new DiscardedFile(name, name.startsWith("first"), deleted));
    }
}
