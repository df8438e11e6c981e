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

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.PartitionedMapFixture;
import dev.dstl.spillable.overlay.SpilledView;
import dev.dstl.spillable.partition.SealedPartition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory.MemoryCheckpointOutputStream;
import org.junit.jupiter.api.Test;

class PartitionUploadTest extends PartitionedMapFixture {

    private static final int FILE_BYTES = 1 << 20;

    private final CheckpointHistory history = new CheckpointHistory();
    private long checkpointId;

    private CheckpointedPartitions checkpoint(List<PartitionedMap> maps, long fileBytes)
            throws Exception {
        return checkpoint(maps, fileBytes, new MemCheckpointStreamFactory(1 << 26));
    }

    private CheckpointedPartitions checkpoint(
            List<PartitionedMap> maps, long fileBytes, CheckpointStreamFactory streams)
            throws Exception {
        List<SpilledView> views = new ArrayList<>();
        List<SpilledGroup> groups = new ArrayList<>();
        for (PartitionedMap one : maps) {
            SpilledView view = one.view();
            views.add(view);
            groups.add(new SpilledGroup("a state", groups.size(), view));
        }
        CheckpointHistory.Attempt attempt = history.begin(++checkpointId, true);
        try {
            CheckpointedPartitions partitions =
                    new PartitionUpload(streams, new CloseableRegistry(), fileBytes)
                            .write(groups, attempt);
            attempt.written(partitions);
            history.confirmed(checkpointId);
            return partitions;
        } finally {
            views.forEach(SpilledView::close);
        }
    }

    private PartitionedMap sealedMap() {
        PartitionedMap one = disks.newMap();
        seal(one, one);
        return one;
    }

    private void seal(PartitionedMap one, PartitionedMap changedNext) {
        for (int i = 0; i < 200; i++) {
            byte[] key = ("key " + i).getBytes(StandardCharsets.UTF_8);
            int hash = one.entries().keyHash().of(key, key.length);
            one.put(key, key.length, hash, false, new byte[100], 100);
        }
        disks.pool().sealLargeOverlays();
        // The merge is taken over with the next change.
        byte[] key = {1};
        changedNext.put(key, 1, one.entries().keyHash().of(key, 1), false, key, 1);
    }

    @Test
    void manySmallFiles_areWrittenAnewTogether() throws Exception {
        List<PartitionedMap> maps = new ArrayList<>();
        int most = 0;
        for (int i = 0; i < 70; i++) {
            maps.add(sealedMap());
            most = Math.max(most, checkpoint(maps, 256 * FILE_BYTES).files().size());
        }

        assertThat(most).isBetween(60, 66);
        assertThat(checkpoint(maps, 256 * FILE_BYTES).files()).hasSizeLessThan(10);
        maps.forEach(PartitionedMap::close);
    }

    @Test
    void partitionsOfOneCheckpoint_shareFilesUpToALength() throws Exception {
        List<PartitionedMap> maps = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            maps.add(sealedMap());
        }

        List<SharedFile> files = checkpoint(maps, FILE_BYTES).files();

        assertThat(files).hasSizeBetween(2, 10);
        for (SharedFile file : files.subList(0, files.size() - 1)) {
            assertThat(file.bytes()).isBetween((long) FILE_BYTES, FILE_BYTES + (512L << 10));
        }
        maps.forEach(PartitionedMap::close);
    }

    /** What the others leave of a file is written anew, so that its space can be given back. */
    @Test
    void partitionsThatMoveToAnotherChunkFile_areNotUploadedAgain() throws Exception {
        List<PartitionedMap> kept = new ArrayList<>();
        List<PartitionedMap> others = new ArrayList<>();
        for (int i = 0; i < 240; i++) {
            PartitionedMap one = disks.newMap();
            seal(one, map);
            (i % 8 == 0 ? kept : others).add(one);
        }
        CheckpointedPartitions first = checkpoint(kept, FILE_BYTES);
        List<SealedPartition> before = sealed(kept);

        others.forEach(PartitionedMap::close);
        for (int i = 0; i < 200; i++) {
            sealedMap().close();
        }
        CheckpointedPartitions second = checkpoint(kept, FILE_BYTES);

        List<SealedPartition> after = sealed(kept);
        int moved = 0;
        for (int i = 0; i < before.size(); i++) {
            moved += after.get(i) == before.get(i) ? 0 : 1;
            PartitionLocation location = second.location(after.get(i));
            assertThat(location).isSameAs(first.location(before.get(i)));
            assertThat(after.get(i).length()).isEqualTo(location.length);
            byte[] bytes = new byte[location.length];
            after.get(i).extent().read(ByteBuffer.wrap(bytes), 0);
            CRC32C crc = new CRC32C();
            crc.update(bytes);
            assertThat((int) crc.getValue()).isEqualTo(location.checksum);
        }
        assertThat(moved).as("of %s", before.size()).isGreaterThan(before.size() / 2);
        assertThat(second.files()).isEqualTo(first.files());
        kept.forEach(PartitionedMap::close);
    }

    private static List<SealedPartition> sealed(List<PartitionedMap> maps) {
        List<SealedPartition> all = new ArrayList<>();
        for (PartitionedMap map : maps) {
            try (SpilledView view = map.view()) {
                view.partitions().forEach(one -> all.add(one.sealed()));
            }
        }
        return all;
    }

    private List<PartitionedMap> sealedMaps(int count) {
        List<PartitionedMap> maps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            maps.add(sealedMap());
        }
        return maps;
    }

    @Test
    void severalFiles_areWrittenAtATime() throws Exception {
        List<PartitionedMap> maps = sealedMaps(60);
        CountDownLatch others = new CountDownLatch(4);
        CheckpointStreamFactory streams =
                new MemCheckpointStreamFactory(1 << 26) {
                    @Override
                    public CheckpointStateOutputStream createCheckpointStateOutputStream(
                            CheckpointedStateScope scope) throws IOException {
                        others.countDown();
                        try {
                            assertThat(others.await(60, TimeUnit.SECONDS)).isTrue();
                        } catch (InterruptedException e) {
                            throw new IOException(e);
                        }
                        return super.createCheckpointStateOutputStream(scope);
                    }
                };

        assertThat(checkpoint(maps, FILE_BYTES / 8, streams).files()).hasSizeGreaterThan(4);

        maps.forEach(PartitionedMap::close);
    }

    @Test
    void fileThatFails_endsTheOthers() throws Exception {
        List<PartitionedMap> maps = sealedMaps(60);
        List<MemoryCheckpointOutputStream> opened = new CopyOnWriteArrayList<>();
        CheckpointStreamFactory streams =
                new MemCheckpointStreamFactory(1 << 26) {
                    @Override
                    public CheckpointStateOutputStream createCheckpointStateOutputStream(
                            CheckpointedStateScope scope) throws IOException {
                        if (opened.size() >= 3) {
                            throw new IOException("No more files");
                        }
                        MemoryCheckpointOutputStream stream =
                                new MemoryCheckpointOutputStream(1 << 26);
                        opened.add(stream);
                        return stream;
                    }
                };

        assertThatThrownBy(() -> checkpoint(maps, FILE_BYTES / 8, streams))
                .isInstanceOf(IOException.class)
                .hasMessage("No more files");

        assertThat(opened)
                .isNotEmpty()
                .allMatch(MemoryCheckpointOutputStream::isClosed, "is closed");
        maps.forEach(PartitionedMap::close);
    }
}
