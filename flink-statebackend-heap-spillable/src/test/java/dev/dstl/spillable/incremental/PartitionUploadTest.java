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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.Test;

class PartitionUploadTest extends PartitionedMapFixture {

    private static final int FILE_BYTES = 1 << 20;

    private final CheckpointHistory history = new CheckpointHistory();
    private long checkpointId;

    private CheckpointedPartitions checkpoint(List<PartitionedMap> maps, long fileBytes)
            throws Exception {
        List<SpilledView> views = new ArrayList<>();
        List<SpilledGroup> groups = new ArrayList<>();
        for (PartitionedMap one : maps) {
            SpilledView view = one.view();
            views.add(view);
            groups.add(new SpilledGroup("a state", groups.size(), view));
        }
        CheckpointHistory.Attempt attempt = history.begin(++checkpointId, true);
        CheckpointedPartitions partitions =
                new PartitionUpload(
                                new MemCheckpointStreamFactory(1 << 26),
                                new CloseableRegistry(),
                                fileBytes)
                        .write(groups, attempt);
        attempt.written(partitions);
        history.confirmed(checkpointId);
        views.forEach(SpilledView::close);
        return partitions;
    }

    private PartitionedMap sealedMap() {
        PartitionedMap one = disks.newMap();
        for (int i = 0; i < 200; i++) {
            byte[] key = ("key " + i).getBytes(StandardCharsets.UTF_8);
            int hash = one.entries().keyHash().of(key, key.length);
            one.put(key, key.length, hash, false, new byte[100], 100);
        }
        disks.pool().sealLargeOverlays();
        // The merge is taken over with the next change.
        byte[] key = {1};
        one.put(key, 1, one.entries().keyHash().of(key, 1), false, key, 1);
        return one;
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
}
