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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.TreeSet;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.junit.jupiter.api.Test;

class IncrementalSnapshotTest extends IncrementalFixture {

    private static final int KEYS = 60_000;

    private static final String VALUE = "0123456789012345678901234567890123456789";

    private void fill() throws Exception {
        for (int key = 0; key < KEYS; key++) {
            put(key, VALUE + key);
        }
    }

    private static long placeholders(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .map(HandleAndLocalPath::getHandle)
                        .filter(file -> file instanceof PlaceholderStreamStateHandle)
                        .count();
    }

    @Test
    void onePercentOfTheKeysChanged_writesATenthAtMost() throws Exception {
        fill();
        settledCheckpoint();
        long heapFormatBytes =
                write(nextId(), SavepointType.savepoint(SavepointFormatType.NATIVE))
                        .getCheckpointedSize();
        long partitionBytes = write(nextId(), CheckpointType.FULL_CHECKPOINT).getCheckpointedSize();
        settledCheckpoint();
        Random random = new Random(1);
        for (int i = 0; i < KEYS / 100; i++) {
            int key = random.nextInt(KEYS);
            put(key, VALUE + "changed" + key);
        }

        long bytes = checkpoint().getCheckpointedSize();

        System.out.printf(
                "1 %% of %d keys changed: %d bytes; full in heap format %d, in partitions %d%n",
                KEYS, bytes, heapFormatBytes, partitionBytes);
        assertThat(bytes).isLessThanOrEqualTo(heapFormatBytes / 10);
    }

    @Test
    void unchangedState_isReferredTo() throws Exception {
        fill();
        settledCheckpoint();

        KeyedStateHandle handle = write(nextId(), CheckpointType.CHECKPOINT);

        assertThat(placeholders(handle))
                .isPositive()
                .isEqualTo(((IncrementalRemoteKeyedStateHandle) handle).getSharedState().size());
        assertThat(handle.getCheckpointedSize()).isLessThan(handle.getStateSize() / 20);
    }

    @Test
    void fullCheckpoint_refersToNothing_butIsReferredTo() throws Exception {
        fill();
        settledCheckpoint();

        long id = nextId();
        KeyedStateHandle full = write(id, CheckpointType.FULL_CHECKPOINT);
        store.acknowledge(id, java.util.Collections.singletonList(full));
        store.complete(id);
        backend.notifyCheckpointComplete(id);

        assertThat(placeholders(full)).isZero();
        assertThat(placeholders(write(nextId(), CheckpointType.CHECKPOINT))).isPositive();
    }

    @Test
    void nativeSavepoint_isAFullSnapshotInHeapFormat() throws Exception {
        fill();
        settledCheckpoint();

        assertThat(write(nextId(), SavepointType.savepoint(SavepointFormatType.NATIVE)))
                .isInstanceOf(KeyGroupsStateHandle.class);
    }

    @Test
    void backendWithNothingSpilled_writesFullSnapshots() throws Exception {
        assertThat(write(nextId(), CheckpointType.CHECKPOINT))
                .isInstanceOf(KeyGroupsStateHandle.class);
    }

    @Test
    void checkpointAfterARestore_refersToTheRestoredOne() throws Exception {
        fill();
        settledCheckpoint();
        start(store.completed());

        KeyedStateHandle handle = write(nextId(), CheckpointType.CHECKPOINT);

        assertThat(placeholders(handle)).isPositive();
        assertThat(handle.getCheckpointedSize()).isLessThan(handle.getStateSize() / 20);
        for (int key = 0; key < KEYS; key += 97) {
            assertThat(get(key)).isEqualTo(VALUE + key);
        }
    }

    @Test
    void checkpointsThatOverlap_shareOnlyWhatAllOfThemHave() throws Exception {
        fill();
        settledCheckpoint();
        long first = nextId();
        KeyedStateHandle firstHandle = write(first, CheckpointType.FULL_CHECKPOINT);
        store.acknowledge(first, java.util.Collections.singletonList(firstHandle));
        long second = nextId();

        // If the first one completes now, the files of the one before it go.
        KeyedStateHandle secondHandle = write(second, CheckpointType.CHECKPOINT);

        assertThat(placeholders(secondHandle)).isZero();
        store.complete(first);
        store.acknowledge(second, java.util.Collections.singletonList(secondHandle));
        store.complete(second);
        assertThat(store.filesOnDisk()).isEqualTo(CheckpointStore.files(store.completed()));
    }

    @Test
    void fileOfWhichLessThanHalfIsInUse_isWrittenAnew() throws Exception {
        fill();
        settledCheckpoint();
        TreeSet<String> first = new TreeSet<>(CheckpointStore.files(store.completed()));
        for (int key = 0; key < KEYS; key++) {
            if (key % 8 > 0) {
                put(key, VALUE + VALUE + key);
            }
        }

        settledCheckpoint();

        assertThat(CheckpointStore.files(store.completed())).doesNotContainAnyElementsOf(first);
        long live = 0;
        for (HandleAndLocalPath file :
                ((IncrementalRemoteKeyedStateHandle) store.completed().get(0)).getSharedState()) {
            live += file.getStateSize();
        }
        assertThat(live).isLessThan(4L * KEYS * 150);
    }
}
