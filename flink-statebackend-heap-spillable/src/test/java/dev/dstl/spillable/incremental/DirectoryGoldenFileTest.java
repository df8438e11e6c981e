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
import dev.dstl.spillable.overlay.RestoredPartition;
import dev.dstl.spillable.overlay.SpilledView;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A directory as any version wrote it can always be read, the newest is written byte for byte. */
class DirectoryGoldenFileTest extends PartitionedMapFixture {

    private static final FileChecksums CHECKSUMS =
            new FileChecksums(FileChecksums.BLOCK_BYTES + 9, new int[] {0xBEEF, -2});
    private static final ByteStreamStateHandle SHARED =
            new ByteStreamStateHandle("handle", new byte[0]);

    private static byte[] golden(int version) throws IOException {
        String file = "/directory-v" + version + ".bin";
        try (InputStream in = DirectoryGoldenFileTest.class.getResourceAsStream(file)) {
            return in.readAllBytes();
        }
    }

    private static void put(PartitionedMap map, int number, int valueLength) {
        byte[] key = key(number);
        map.put(key, key.length, hash(map, key), false, new byte[valueLength], valueLength);
    }

    private static byte[] key(int number) {
        return ("key " + number).getBytes(StandardCharsets.UTF_8);
    }

    private static int hash(PartitionedMap map, byte[] key) {
        return map.entries().keyHash().of(key, key.length);
    }

    private static long find(PartitionedMap map, int number) {
        byte[] key = key(number);
        return map.entries().find(key, key.length, hash(map, key), false);
    }

    private void seal() {
        for (int i = 0; i < 200; i++) {
            put(map, i, 150);
        }
        disks.pool().sealLargeOverlays();
        // Takes over what has been sealed.
        disks.pool().sealLargeOverlays();
    }

    private byte[] write() throws IOException {
        seal();
        for (int i = 0; i < 3; i++) {
            put(map, 198 + i, 4 + i);
            byte[] key = key(i);
            map.remove(key, key.length, hash(map, key), false);
        }
        try (SpilledView view = map.view()) {
            SpilledGroup group = new SpilledGroup("a state", 5, view);
            CheckpointedPartitions partitions = new CheckpointedPartitions();
            SharedFile file = new SharedFile("file", SHARED);
            for (RestoredPartition partition : group.partitions) {
                assertThat(partition.sealed()).isNotNull();
                partitions.add(
                        partition.sealed(), new PartitionLocation(file, 4711, 12345, 0xCAFE));
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            DirectoryWriter.write(
                    out,
                    KeyGroupRange.of(4, 5),
                    new long[] {17, 18},
                    CHECKSUMS,
                    List.of(group),
                    partitions);
            return out.toByteArray();
        }
    }

    @Test
    void isWritten() throws IOException {
        assertThat(write()).isEqualTo(golden(DirectoryFormat.VERSION));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void isRead(int version) throws IOException {
        DirectoryReader reader =
                new DirectoryReader(
                        new ByteArrayInputStream(golden(version)),
                        "golden",
                        Collections.singletonMap("file", new SharedFile("file", SHARED)));

        assertThat(reader.offsets().getKeyGroupOffset(5)).isEqualTo(18);
        if (version == 1) {
            assertThat(reader.heapChecksums()).isNull();
        } else {
            assertThat(reader.heapChecksums().length).isEqualTo(CHECKSUMS.length);
            assertThat(reader.heapChecksums().blocks).isEqualTo(CHECKSUMS.blocks);
        }
        DirectoryMap one = reader.maps().get(0);
        assertThat(one).hasToString("state 'a state', key group 5");
        assertThat(one.seed).isEqualTo(7);
        assertThat(one.entries).isEqualTo(198);
        DirectoryMap.Range range = one.ranges.get(0);
        assertThat(range.stateId).isEqualTo(1);
        assertThat(range.location.file.handle).isEqualTo(SHARED);
        assertThat(range.location.offset).isEqualTo(4711);
        assertThat(range.location.length).isEqualTo(12345);
        assertThat(range.location.checksum).isEqualTo(0xCAFE);
        seal();
        reader.readChanges(map);
        reader.requireEnd();
        assertThat(map.size()).isEqualTo(198);
        assertThat(find(map, 2)).isZero();
        assertThat(find(map, 200)).isNotZero();
        assertThat(map.entries().valueLength()).isEqualTo(6);
    }
}
