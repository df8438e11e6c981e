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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import dev.dstl.spillable.partition.DamagedPartitionException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A checkpoint that fails leaves nothing behind, and the next one works. */
class FailedCheckpointTest extends IncrementalFixture {

    private static final int KEYS = 4_000;

    @TempDir Path disk;
    private MetricGroup metrics = new UnregisteredMetricsGroup();

    @Override
    MetricGroup metrics() {
        return metrics;
    }

    @Override
    SpillableStateBackend stateBackend() {
        Configuration config = new Configuration();
        config.setString("state.backend.spillable.directories", disk.toString());
        config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        return PlacedBackends.spilled(config);
    }

    private void fill(String text) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            put(key, text + key);
        }
    }

    private void verify(String text) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            assertThat(get(key)).isEqualTo(text + key);
        }
    }

    private void snapshotTo(CheckpointStreamFactory streams, SnapshotType type) throws Exception {
        long id = nextId();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                KeyedBackends.checkpoint(backend, id, streams, type);
        snapshot.run();
        List<KeyedStateHandle> handles =
                Collections.singletonList(snapshot.get().getJobManagerOwnedSnapshot());
        store.acknowledge(id, handles);
        store.complete(id);
        backend.notifyCheckpointComplete(id);
    }

    @Test
    void diskFullAfterAnyNumberOfBytes_leavesNoFile_andTheNextCheckpointWorks() throws Exception {
        fill("a value of some length ");
        settledCheckpoint();
        fill("another value of some length ");
        int failures = 0;
        for (long room = 0; true; room += 9_973) {
            StreamsWithFaults streams = new StreamsWithFaults(store.streams());
            streams.limit(room);
            try {
                snapshotTo(streams, CheckpointType.CHECKPOINT);
                break;
            } catch (ExecutionException e) {
                assertThat(e).rootCause().hasMessage(StreamsWithFaults.FULL);
                failures++;
            }
            assertThat(store.filesOnDisk()).isEqualTo(CheckpointStore.files(store.completed()));
        }
        assertThat(failures).isGreaterThan(5);
        verify("another value of some length ");

        start(store.completed());

        verify("another value of some length ");
    }

    @Test
    void cancelledWithAnInterruptOfItsThread_deletesTheFilesItHasWritten() throws Exception {
        fill("a value of some length ");
        settledCheckpoint();
        StreamsWithFaults streams = new StreamsWithFaults(store.streams());
        // Whoever cancels interrupts, and the stream that is open fails.
        streams.beforeLastFile(
                () -> {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("cancelled");
                });

        assertThatThrownBy(() -> snapshotTo(streams, CheckpointType.FULL_CHECKPOINT))
                .hasStackTraceContaining("cancelled");

        assertThat(Thread.interrupted()).isTrue();
        assertThat(streams.finished()).as("files to delete").isGreaterThan(1);
        assertThat(store.filesOnDisk()).isEqualTo(CheckpointStore.files(store.completed()));
    }

    @Test
    void mergeThatFoundDamage_failsTheCheckpoint_andTheSpillDirectoryGoesWithTheTask()
            throws Exception {
        fill("a value of some length ");
        settledCheckpoint();
        fill("another value of some length ");
        damageChunkFiles();

        assertThatThrownBy(this::prepareCheckpoints).isInstanceOf(DamagedPartitionException.class);

        stop();
        assertThat(disk).isEmptyDirectory();
    }

    @Test
    void startThatFailsAfterTheRestore_leavesNoSpillDirectory() throws Exception {
        fill("a value of some length ");
        settledCheckpoint();
        metrics =
                new UnregisteredMetricsGroup() {
                    @Override
                    public MetricGroup addGroup(String name) {
                        throw new IllegalStateException("no metrics");
                    }
                };

        assertThatThrownBy(() -> start(store.completed())).hasMessage("no metrics");

        assertThat(disk).isEmptyDirectory();
    }

    /** A merge that a checkpoint has started fails one that comes after its end. */
    private void prepareCheckpoints() throws Exception {
        for (int i = 0; i < 500; i++) {
            KeyedBackends.checkpoint(backend, nextId(), store.streams(), CheckpointType.CHECKPOINT)
                    .cancel(true);
            Thread.sleep(10);
        }
    }

    private void damageChunkFiles() throws IOException {
        List<Path> chunks;
        try (Stream<Path> files = Files.walk(disk)) {
            chunks =
                    files.filter(file -> file.getFileName().toString().startsWith("chunk-"))
                            .collect(Collectors.toList());
        }
        assertThat(chunks).isNotEmpty();
        for (Path chunk : chunks) {
            byte[] zeros = new byte[(int) Math.min(Files.size(chunk), 1 << 20)];
            try (FileChannel file = FileChannel.open(chunk, StandardOpenOption.WRITE)) {
                file.write(ByteBuffer.wrap(zeros), 0);
            }
        }
    }
}
