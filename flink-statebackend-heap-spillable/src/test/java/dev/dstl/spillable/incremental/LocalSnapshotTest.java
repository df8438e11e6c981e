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

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.PartitionedMapFixture;
import dev.dstl.spillable.overlay.SpilledView;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of a checkpoint of which the local disk has nothing, and which is more than one slice. */
class LocalSnapshotTest extends PartitionedMapFixture {

    private static final UUID BACKEND = new UUID(1, 2);
    private static final long SLICE_BYTES = 4 << 20;

    @TempDir Path local;
    private final List<PartitionedMap> maps = new ArrayList<>();
    private final List<SpilledView> views = new ArrayList<>();
    private CheckpointedPartitions partitions;
    private LocalBackup backup;
    private long nanos;
    private long nanosPerLook;
    private CloseableRegistry registry = new CloseableRegistry();
    private int looksUntilCancelled;
    private long checkpointId;

    @BeforeEach
    void write() throws Exception {
        List<SpilledGroup> groups = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            PartitionedMap one = disks.newMap();
            maps.add(one);
            for (int key = 0; key < 100; key++) {
                put(one, key);
            }
            disks.pool().sealLargeOverlays();
            put(one, 0);
            SpilledView view = one.view();
            views.add(view);
            groups.add(new SpilledGroup("a state", i, view));
        }
        partitions =
                new PartitionUpload(new MemCheckpointStreamFactory(1 << 26), registry, 256 << 10)
                        .write(groups, new CheckpointHistory().begin(1, true));
        assertThat(allBytes()).isGreaterThan(SLICE_BYTES * 5 / 4);
        backup =
                new LocalBackup(
                        LocalRecoveryConfig.backupAndRecoveryEnabled(
                                new LocalSnapshotDirectoryProviderImpl(
                                        new File[] {local.toFile()},
                                        new JobID(),
                                        new JobVertexID(),
                                        0)),
                        this::look);
    }

    @AfterEach
    void end() throws IOException {
        backup.close();
        views.forEach(SpilledView::close);
        maps.forEach(PartitionedMap::close);
    }

    private static void put(PartitionedMap map, int i) {
        byte[] key = ("key " + i).getBytes(StandardCharsets.UTF_8);
        int hash = map.entries().keyHash().of(key, key.length);
        map.put(key, key.length, hash, false, new byte[1500], 1500);
    }

    private long look() {
        if (--looksUntilCancelled == 0) {
            try {
                registry.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
        nanos += nanosPerLook;
        return nanos;
    }

    private long allBytes() {
        return partitions.files().stream().mapToLong(SharedFile::bytes).sum();
    }

    /** Bytes of files below a directory, each once however many names it has. */
    private long bytesOnDisk() throws IOException {
        try (Stream<Path> all = Files.walk(local)) {
            List<Object> seen = new ArrayList<>();
            long bytes = 0;
            for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
                Object id = Files.getAttribute(file, "unix:ino");
                if (!seen.contains(id)) {
                    seen.add(id);
                    bytes += Files.size(file);
                }
            }
            return bytes;
        }
    }

    @Nullable
    private IncrementalLocalKeyedStateHandle copy(SharedFile... written) throws IOException {
        registry = new CloseableRegistry();
        LocalSnapshot snapshot = backup.begin(BACKEND, ++checkpointId);
        CheckpointStateOutputStream stream =
                snapshot.duplicate(
                        new MemCheckpointStreamFactory(1000)
                                .createCheckpointStateOutputStream(
                                        CheckpointedStateScope.EXCLUSIVE),
                        CheckpointFiles.HEAP_ENTRIES);
        stream.write(1);
        stream.closeAndGetHandle();
        snapshot.closeCopy(stream, CheckpointFiles.HEAP_ENTRIES);
        Collection<SharedFile> news = Arrays.asList(written);
        KeyedStateHandle copy =
                snapshot.complete(
                        BACKEND, new KeyGroupRange(0, 7), checkpointId, partitions, news, registry);
        return (IncrementalLocalKeyedStateHandle) copy;
    }

    private void verify(IncrementalLocalKeyedStateHandle copy) throws IOException {
        Path directory = copy.getDirectoryStateHandle().getDirectory();
        for (SharedFile file : partitions.files()) {
            byte[] bytes = Files.readAllBytes(directory.resolve(file.name));
            try (org.apache.flink.core.fs.FSDataInputStream in = file.handle.openInputStream()) {
                assertThat(bytes).isEqualTo(in.readAllBytes());
            }
        }
    }

    @Test
    void slowDisk_holdsUpACheckpointForOneSlice_andTheNextOneCopiesTheRest() throws IOException {
        nanosPerLook = 1_000_000_000;

        assertThat(copy()).isNull();

        assertThat(bytesOnDisk()).isBetween(SLICE_BYTES, SLICE_BYTES + (256 << 10));
        assertThat(backup.copies()).isZero();
        assertThat(backup.failures()).isZero();
        for (long left = allBytes() - SLICE_BYTES; left > SLICE_BYTES; left -= SLICE_BYTES) {
            assertThat(copy()).isNull();
        }
        verify(copy());
        assertThat(backup.copies()).isOne();
    }

    @Test
    void fastDisk_takesAllAtOnce() throws IOException {
        verify(copy());

        assertThat(bytesOnDisk()).isBetween(allBytes(), allBytes() + 100);
    }

    @Test
    void checkpointThatIsCancelled_leavesWhatItHasCopiedToTheNextOne() throws IOException {
        // When the copy begins, when the files begin, and after a slice.
        looksUntilCancelled = 3;
        assertThat(copy()).isNull();
        long copied = bytesOnDisk();
        assertThat(copied).isGreaterThanOrEqualTo(SLICE_BYTES);
        assertThat(backup.failures()).isZero();
        List<Path> before = files();

        IncrementalLocalKeyedStateHandle next = copy();

        verify(next);
        Path directory = next.getDirectoryStateHandle().getDirectory();
        assertThat(before).hasSizeGreaterThan(10);
        for (Path file : before) {
            assertThat(Files.isSameFile(file, directory.resolve(file.getFileName()))).isTrue();
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(local)) {
            return all.filter(Files::isRegularFile).collect(java.util.stream.Collectors.toList());
        }
    }

    @Test
    void copyThatFlinkDeletes_costsNothingUntilALaterOneHasTheFiles() throws IOException {
        Path first = copy().getDirectoryStateHandle().getDirectory();
        assertThat(files()).hasSizeGreaterThan(2 * partitions.files().size());
        FileUtils.deleteDirectory(first.toFile());
        nanosPerLook = 1_000_000_000;

        verify(copy());
        IncrementalLocalKeyedStateHandle third = copy();

        verify(third);
        assertThat(files())
                .as("names of files, of two checkpoints")
                .hasSize(2 * (partitions.files().size() + 1));
    }

    /** Flink deletes the copy of the checkpoint before, as the one without a copy completes. */
    @Test
    void checkpointThatLeavesFilesToLaterOnes_leavesThemTheCopiesOfTheOneBefore()
            throws IOException {
        CheckpointedPartitions all = partitions;
        SharedFile old = all.files().get(all.files().size() - 1);
        partitions = new CheckpointedPartitions();
        all.in(old).forEach(one -> partitions.add(one.partition, one.location));
        IncrementalLocalKeyedStateHandle before = copy(old);
        Path witness = local.resolve("witness");
        Path directory = before.getDirectoryStateHandle().getDirectory();
        Files.createLink(witness, directory.resolve(old.name));
        partitions = all;
        nanosPerLook = 1_000_000_000;

        assertThat(copy()).isNull();
        FileUtils.deleteDirectory(directory.toFile());

        IncrementalLocalKeyedStateHandle next = null;
        while (next == null) {
            next = copy();
        }
        verify(next);
        Path copied = next.getDirectoryStateHandle().getDirectory().resolve(old.name);
        assertThat(Files.isSameFile(witness, copied)).isTrue();
    }

    @Test
    void filesThatAreNewInACheckpoint_areNotKeptForOthers() throws IOException {
        verify(copy(partitions.files().toArray(new SharedFile[0])));

        assertThat(files()).hasSize(partitions.files().size() + 1);
    }

    @Test
    void backendThatIsClosed_leavesNoUnfinishedCopy() throws IOException {
        nanosPerLook = 1_000_000_000;
        assertThat(copy()).isNull();

        backup.close();

        assertThat(files()).isEmpty();
        assertThat(backup.begin(BACKEND, 9)).isNull();
    }

    @Test
    void diskThatFails_keepsNoUnfinishedCopy() throws IOException {
        nanosPerLook = 1_000_000_000;
        assertThat(copy()).isNull();
        Path file = files().get(files().size() - 1);
        List<Path> all = files();
        // The next file to be written is a directory, so that nobody can write it.
        for (SharedFile shared : partitions.files()) {
            Path copy = file.resolveSibling(shared.name);
            if (!all.contains(copy)) {
                Files.createDirectory(copy);
            }
        }

        assertThat(copy()).isNull();

        assertThat(backup.failures()).isOne();
        assertThat(files()).isEmpty();
    }
}
