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

import dev.dstl.spillable.ChildProcess;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process that dies in the midst of a merge leaves nothing behind and costs no state. */
class KilledMergeITCase {

    @TempDir Path temporary;
    @TempDir Path checkpoints;
    @TempDir Path disk;

    @ParameterizedTest
    @CsvSource({
        "overlay.LivePartition, startMerge",
        "overlay.MergeWorkspace, collect",
        "partition.PartitionWriter, add",
        "chunk.ChunkFile, write",
        "overlay.MergeRunner, await",
        "overlay.PartitionedMap, merged"
    })
    void restoresTheLastCheckpoint_andDeletesWhatTheProcessHasLeft(String type, String method)
            throws Exception {
        Path handles = temporary.resolve("handles");
        try (ChildProcess process =
                ChildProcess.start(
                        temporary,
                        Collections.emptyList(),
                        List.of("-Xmx128m"),
                        MergingProcess.class,
                        checkpoints.toString(),
                        handles.toString(),
                        disk.toString(),
                        "dev.dstl.spillable." + type,
                        method)) {
            assertThat(process.awaitExit()).as(process.output()).isEqualTo(MergingProcess.HALTED);
        }
        assertThat(chunkFiles()).isNotEmpty();
        List<KeyedStateHandle> completed = read(handles);

        AbstractKeyedStateBackend<Integer> backend = MergingProcess.start(disk, completed);

        ValueState<String> state = MergingProcess.state(backend);
        for (int key = 0; key < MergingProcess.KEYS; key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).isEqualTo(MergingProcess.expected(key));
        }
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(MergingProcess.KEYS);
        backend.dispose();
        assertThat(disk).isEmptyDirectory();
        assertThat(new CheckpointStore(checkpoints).filesOnDisk())
                .isEqualTo(CheckpointStore.files(completed));
    }

    private List<Path> chunkFiles() throws IOException {
        try (Stream<Path> files = Files.walk(disk)) {
            return files.filter(Files::isRegularFile).collect(Collectors.toList());
        }
    }

    @SuppressWarnings("unchecked") // as it was written
    private static List<KeyedStateHandle> read(Path file) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(file))) {
            return (List<KeyedStateHandle>) in.readObject();
        }
    }
}
