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

package dev.dstl.spillable.overlay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileSpaceTest {

    private static final int ENTRIES = 100_000;
    private static final int KEY_BYTES = 16;
    private static final int VALUE_BYTES = 8;
    private static final int UPDATES = 10;

    @TempDir private Path disk;

    @Test
    void smallEntriesThatAreUpdatedAgainAndAgain_takeFiveTimesTheirBytesAtMost()
            throws IOException {
        Random random = new Random(1);
        long most = 0;
        try (PoolOnDisk disks = new PoolOnDisk(disk, 4 << 20)) {
            PartitionedMap map = disks.newMap();
            for (int entry = 0; entry < ENTRIES; entry++) {
                put(map, entry, entry);
            }
            for (int update = 1; update <= UPDATES * ENTRIES; update++) {
                put(map, random.nextInt(ENTRIES), update);
                if (update % 10_000 == 0) {
                    most = Math.max(most, disks.pool().chunks().fileBytes());
                }
            }
            map.close();
        }
        double ratio = most / ((double) ENTRIES * (KEY_BYTES + VALUE_BYTES));
        System.out.printf("Files take %.2f times their entries at most%n", ratio);
        assertThat(ratio).isLessThanOrEqualTo(5);
    }

    private static void put(PartitionedMap map, int entry, long value) {
        byte[] key = ByteBuffer.allocate(KEY_BYTES).putLong(entry).array();
        map.put(
                key,
                key.length,
                map.entries().keyHash().of(key, key.length),
                false,
                ByteBuffer.allocate(VALUE_BYTES).putLong(value).array(),
                VALUE_BYTES);
    }
}
