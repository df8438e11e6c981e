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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.partition.DamagedPartitionException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.util.FileUtils;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpillFaultsTest {

    private static final int KEYS = 100_000;

    @TempDir Path disk;
    private final Configuration config = new Configuration();

    @BeforeEach
    void configure() {
        config.setString("state.backend.spillable.directories", disk.toString());
        config.setString("state.backend.spillable.chunk-size", "1mb");
        config.setString("state.backend.spillable.off-heap.size", "1mb");
    }

    private static AbstractKeyedStateBackend<Long> create(StateBackend backend) throws Exception {
        return create(backend, Collections.emptyList());
    }

    private static AbstractKeyedStateBackend<Long> create(
            StateBackend backend, Collection<KeyedStateHandle> handles) throws Exception {
        return KeyedBackends.create(
                backend, LongSerializer.INSTANCE, 4, new KeyGroupRange(0, 3), handles);
    }

    private static ValueState<String> state(AbstractKeyedStateBackend<Long> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("state", Types.STRING));
    }

    @Test
    void aValueLongerThanAChunk_isSpilledAndReadBack() throws Exception {
        AbstractKeyedStateBackend<Long> backend = create(PlacedBackends.spilled(config));
        ValueState<String> state = state(backend);
        for (long key = 0; key < 4; key++) {
            backend.setCurrentKey(key);
            state.update(value(key));
        }
        for (long key = 0; key < 4; key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).isEqualTo(value(key));
        }
        backend.dispose();
        assertThat(disk).isEmptyDirectory();
    }

    /** Three times as long as a chunk. */
    private static String value(long key) {
        return Long.toString(key).repeat(3 << 20);
    }

    @Test
    void twoBackendsInOneJvm_leaveEachOthersChunksAlone() throws Exception {
        AbstractKeyedStateBackend<Long> one = create(PlacedBackends.spilled(config));
        AbstractKeyedStateBackend<Long> other = create(PlacedBackends.spilled(config));
        fill(one, "one ");
        fill(other, "other ");

        one.dispose();
        AbstractKeyedStateBackend<Long> late = create(PlacedBackends.spilled(config));

        ValueState<String> state = state(other);
        for (long key = 0; key < KEYS; key++) {
            other.setCurrentKey(key);
            assertThat(state.value()).isEqualTo("other " + key);
        }
        late.dispose();
        other.dispose();
        assertThat(disk).isEmptyDirectory();
    }

    private static void fill(AbstractKeyedStateBackend<Long> backend, String prefix)
            throws Exception {
        ValueState<String> state = state(backend);
        for (long key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            state.update(prefix + key);
        }
    }

    @Test
    void memoryUsedUpWithoutADiskThatTakesState_failsTheTask_withOneErrorAndNothingLost()
            throws Exception {
        AbstractKeyedStateBackend<Long> backend = create(PlacedBackends.spilled(config));
        ValueState<String> state = state(backend);
        backend.setCurrentKey(0L);
        state.update(large(0));
        backend.setCurrentKey(0L);
        Collection<KeyedStateHandle> checkpoint =
                KeyedBackends.handles(KeyedBackends.checkpoint(backend, 1));
        breakDisk();
        AtomicLong written = new AtomicLong();

        try (LoggedLines errors = new LoggedLines(PartitionPool.class, Level.ERROR)) {
            assertThatThrownBy(
                            () -> {
                                while (true) {
                                    backend.setCurrentKey(written.get() + 1);
                                    state.update(large(written.get() + 1));
                                    written.incrementAndGet();
                                }
                            })
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("its budget is 1048576, and no disk takes it")
                    .hasMessageContaining("state.backend.spillable.off-heap.size");
            assertThat(errors.lines()).hasSize(1);
            assertThat(errors.lines().get(0)).contains("No disk takes spilled state");
        }

        assertThat(written.get() * large(0).length()).isGreaterThan(30 << 20);
        for (long key = 0; key <= written.get(); key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).isEqualTo(large(key));
        }
        backend.dispose();

        AbstractKeyedStateBackend<Long> restarted =
                create(PlacedBackends.spilled(config), checkpoint);
        restarted.setCurrentKey(0L);
        assertThat(state(restarted).value()).isEqualTo(large(0));
        assertThat(restarted.numKeyValueStateEntries()).isOne();
        restarted.dispose();
    }

    private static String large(long key) {
        return Long.toString(key % 10).repeat(200_000);
    }

    /** Takes the directories away, so that no chunk can be made in them. */
    private void breakDisk() throws IOException {
        try (Stream<Path> directories = Files.list(disk)) {
            for (Path directory : (Iterable<Path>) directories::iterator) {
                FileUtils.deleteDirectory(directory.toFile());
            }
        }
    }

    @Test
    void zeroedPages_failReadsAndSnapshots_andNoKeySeemsToBeMissing() throws Exception {
        AbstractKeyedStateBackend<Long> backend = create(PlacedBackends.spilled(config));
        fill(backend, "value ");
        ValueState<String> state = state(backend);
        damageFiles(64 << 10);

        int refused = 0;
        for (long key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            try {
                assertThat(state.value()).isEqualTo("value " + key);
            } catch (DamagedPartitionException e) {
                refused++;
                assertThat(e)
                        .hasMessageContaining("state 'state', key group ")
                        .hasMessageContaining(disk.toString());
            }
        }
        assertThat(refused).isPositive();
        assertThatThrownBy(() -> KeyedBackends.run(KeyedBackends.checkpoint(backend, 1)))
                .hasStackTraceContaining(DamagedPartitionException.class.getName());
        backend.dispose();
        assertThat(disk).isEmptyDirectory();
    }

    /** Zeroes so many bytes in each chunk file. */
    private void damageFiles(int bytes) throws IOException {
        List<Path> chunks;
        try (Stream<Path> files = Files.walk(disk)) {
            chunks =
                    files.filter(file -> file.getFileName().toString().startsWith("chunk-"))
                            .collect(Collectors.toList());
        }
        for (Path chunk : chunks) {
            try (FileChannel file = FileChannel.open(chunk, StandardOpenOption.WRITE)) {
                file.write(ByteBuffer.allocate(bytes), 128 << 10);
            }
        }
    }

    @Test
    void anInterruptedTask_goesOnSpilling() throws Exception {
        Gauges gauges = new Gauges();
        AbstractKeyedStateBackend<Long> backend = create(PlacedBackends.spilled(config, gauges));
        try (LoggedLines errors = new LoggedLines(PartitionPool.class, Level.ERROR)) {
            fillAndExpectSpilling(backend, "value ", gauges);
            Thread.currentThread().interrupt();
            fillAndExpectSpilling(backend, "another value ", gauges);
            assertThat(Thread.interrupted()).isTrue();
            fillAndExpectSpilling(backend, "value after ", gauges);
            assertThat(errors.lines()).isEmpty();
        }

        ValueState<String> state = state(backend);
        for (long key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).isEqualTo("value after " + key);
        }
        backend.dispose();
        assertThat(disk).isEmptyDirectory();
    }

    private static void fillAndExpectSpilling(
            AbstractKeyedStateBackend<Long> backend, String prefix, Gauges gauges)
            throws Exception {
        long merges = (long) gauges.value("mergesTotal");
        long sealedBytes = (long) gauges.value("sealedBytesTotal");

        fill(backend, prefix);

        assertThat((long) gauges.value("mergesTotal")).isGreaterThan(merges);
        assertThat((long) gauges.value("sealedBytesTotal") - sealedBytes)
                .isGreaterThan((long) gauges.value("offHeapLimitBytes"));
        assertThat((long) gauges.value("offHeapBytes") * 100)
                .isLessThanOrEqualTo((long) gauges.value("offHeapLimitBytes") * 105);
    }

    @Test
    void noUsableDirectory_failsTheTaskAtItsStart_withTheKeyAndTheFix() throws Exception {
        Path file = Files.createFile(disk.resolve("a file"));
        config.setString("state.backend.spillable.directories", file.toString());

        assertThatThrownBy(
                        () ->
                                create(
                                        new SpillableStateBackendFactory()
                                                .createFromConfig(
                                                        config, getClass().getClassLoader())))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("Name writable directories in")
                .hasMessageContaining("state.backend.spillable.directories");
    }
}
