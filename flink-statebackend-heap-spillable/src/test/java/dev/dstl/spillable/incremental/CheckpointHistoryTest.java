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

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import dev.dstl.spillable.partition.SealedPartition;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointHistoryTest {

    private static final int ROUNDS = 10_000;

    private final CheckpointHistory history = new CheckpointHistory();

    @TempDir Path disk;
    private ChunkFiles chunks;
    private SealedPartition partition;

    @BeforeEach
    void openPartition() throws IOException {
        chunks = new ChunkFiles(new SpillDirectories(List.of(disk)), 1 << 20, () -> 0);
        byte[] bytes;
        try (InputStream golden = getClass().getResourceAsStream("/partition-v1.bin")) {
            bytes = golden.readAllBytes();
        }
        partition =
                new SealedPartition(
                        chunks.write(MemorySegmentFactory.wrap(bytes), bytes.length),
                        new StateIdentity(3, "counts", 17));
    }

    @AfterEach
    void closeChunks() throws IOException {
        chunks.close();
    }

    private static SharedFile file(String name) {
        return new SharedFile(
                name, new ByteStreamStateHandle(name, name.getBytes(StandardCharsets.UTF_8)));
    }

    /** The history asks for the files only, so one partition serves for all. */
    private CheckpointedPartitions partitionsIn(SharedFile... files) {
        CheckpointedPartitions partitions = new CheckpointedPartitions();
        for (SharedFile file : files) {
            partitions.add(partition, new PartitionLocation(file, 0, 1, 0));
        }
        return partitions;
    }

    private static void assertCleared(WeakReference<?> reference) throws InterruptedException {
        for (int i = 0; i < 100 && reference.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertThat(reference.get()).as("what an early checkpoint has").isNull();
    }

    /** Each checkpoint begins before the one before it is confirmed. */
    private WeakReference<CheckpointedPartitions> overlapping(boolean areAborted) {
        WeakReference<CheckpointedPartitions> first = null;
        CheckpointHistory.Attempt last = history.begin(0, true);
        for (int id = 1; id <= ROUNDS; id++) {
            CheckpointHistory.Attempt next = history.begin(id, true);
            CheckpointedPartitions partitions = partitionsIn(file("of " + (id - 1)));
            if (first == null) {
                first = new WeakReference<>(partitions);
            }
            last.written(partitions);
            if (areAborted) {
                history.aborted(id - 1);
            } else {
                history.confirmed(id - 1);
            }
            last = next;
        }
        return first;
    }

    @Test
    void checkpointsThatOverlap_areForgottenOnceLaterOnesAreConfirmed() throws Exception {
        WeakReference<CheckpointedPartitions> first = overlapping(false);

        assertCleared(first);
        assertThat(history.begin(ROUNDS + 1, true).base().files())
                .extracting(file -> file.name)
                .containsExactly("of " + (ROUNDS - 1));
    }

    @Test
    void checkpointsThatOverlap_areForgottenOnceTheyAreAborted() throws Exception {
        WeakReference<CheckpointedPartitions> first = overlapping(true);

        assertCleared(first);
        assertThat(history.begin(ROUNDS + 1, true).base().files()).isEmpty();
    }

    /** Flink deletes the file when that checkpoint completes, whatever was confirmed before. */
    @Test
    void fileThatACheckpointBegunBeforeLacks_isNotReferredTo() {
        SharedFile kept = file("kept");
        SharedFile left = file("left");
        history.begin(1, true).written(partitionsIn(kept, left));
        history.confirmed(1);
        CheckpointHistory.Attempt second = history.begin(2, true);
        CheckpointHistory.Attempt third = history.begin(3, true);

        assertThat(third.mayReferTo(kept)).as("before the second is written").isFalse();
        second.written(partitionsIn(kept));
        history.confirmed(2);

        assertThat(third.mayReferTo(kept)).isTrue();
        assertThat(third.mayReferTo(left)).isFalse();
    }

    @Test
    void fileThatOnlyAnAbortedCheckpointLacks_isReferredTo() {
        SharedFile file = file("file");
        history.begin(1, true).written(partitionsIn(file));
        history.confirmed(1);
        CheckpointHistory.Attempt second = history.begin(2, true);
        CheckpointHistory.Attempt third = history.begin(3, true);
        history.aborted(2);
        second.written(partitionsIn());

        assertThat(third.mayReferTo(file)).isTrue();
        history.confirmed(2);
        assertThat(history.begin(4, true).base().files()).containsExactly(file);
    }
}
