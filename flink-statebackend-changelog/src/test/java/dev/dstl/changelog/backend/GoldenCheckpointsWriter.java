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

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Writes the files that {@link GoldenCheckpointTest} reads, with the Flink and the DSTL of this
 * build; no test, and run by name only. The files of a release are never written again.
 */
class GoldenCheckpointsWriter {

    private static final Path GOLDEN = Path.of("src", "test", "resources", "golden");
    private static final long LAST = 3;

    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource({
        "HASHMAP, checkpoint",
        "HASHMAP, savepoint",
        "ROCKSDB_INCREMENTAL, checkpoint",
        "ROCKSDB_INCREMENTAL, savepoint",
        "SPILLABLE_INCREMENTAL, checkpoint",
        "SPILLABLE_INCREMENTAL, full",
        "SPILLABLE_INCREMENTAL, savepoint"
    })
    void write(Delegate delegate, String kind) throws Exception {
        GoldenCheckpoint golden = new GoldenCheckpoint(directory);
        String contents;
        try (TestTask task = golden.start(delegate, new FakeJobManager(), List.of())) {
            GoldenCheckpoint.change(task, delegate, 1);
            task.checkpoint(1);
            task.materialize();
            if (delegate == Delegate.SPILLABLE_INCREMENTAL) {
                sealLargeStates(task);
            }
            GoldenCheckpoint.change(task, delegate, 2);
            task.checkpoint(2);
            GoldenCheckpoint.change(task, delegate, 3);
            contents = GoldenCheckpoint.contentsOf(task, delegate);
            KeyedStateHandle handle = take(kind, task);
            if (delegate == Delegate.SPILLABLE_INCREMENTAL && kind.equals("checkpoint")) {
                assertThat(GoldenCheckpoint.sharedBytes(handle))
                        .as("files; perhaps they were still being written")
                        .isGreaterThan(GoldenCheckpoint.LEAST_SHARED_BYTES);
            }
            try (OutputStream out = Files.newOutputStream(golden.metadata(LAST))) {
                Checkpoints.storeCheckpointMetadata(metadata(handle), out);
            }
            golden.pack(
                    Files.createDirectories(GOLDEN)
                            .resolve(
                                    String.format(
                                            "flink-1.20-%s-%s.zip",
                                            delegate.name().toLowerCase(java.util.Locale.ROOT),
                                            kind)),
                    contents);
        }
    }

    /** Each base also lets what is in memory be sealed, which the next one has. */
    private static void sealLargeStates(TestTask task) throws Exception {
        for (int round = 6; round < 16; round++) {
            new LargeStates(task).change(round);
            task.materialize();
        }
    }

    private static KeyedStateHandle take(String kind, TestTask task) throws Exception {
        switch (kind) {
            case "checkpoint":
                return task.checkpoint(LAST);
            case "full":
                return TestTask.finish(
                        task.trigger(LAST, SavepointType.savepoint(SavepointFormatType.NATIVE)));
            default:
                return canonicalSavepoint(task);
        }
    }

    private static KeyedStateHandle canonicalSavepoint(TestTask task) throws Exception {
        return TestTask.finish(
                StreamOperatorStateHandler.prepareCanonicalSavepoint(
                                task.backend(), new CloseableRegistry())
                        .snapshot(
                                LAST,
                                0L,
                                task.streams(LAST),
                                TestTask.options(CheckpointType.CHECKPOINT)));
    }

    private static CheckpointMetadata metadata(KeyedStateHandle handle) {
        OperatorState operator = new OperatorState(new OperatorID(1, 2), 1, TestTask.KEY_GROUPS);
        operator.putState(0, OperatorSubtaskState.builder().setManagedKeyedState(handle).build());
        return new CheckpointMetadata(LAST, List.of(operator), List.of());
    }
}
