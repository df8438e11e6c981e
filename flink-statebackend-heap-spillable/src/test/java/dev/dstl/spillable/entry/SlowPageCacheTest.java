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

package dev.dstl.spillable.entry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** All that a spilled map does, with chunk files that the page cache seems not to hold. */
class SlowPageCacheTest extends SpilledMapTest {

    private static final int KEYS = 100_000;

    @Override
    @BeforeEach
    void open() throws IOException {
        nanosPerLook = 2 * SealedBlockReader.SLOW_NANOS;
        super.open();
    }

    @Test
    void slowMappedReads_giveWayToReadsOfPages_andComeBackOnceTheseAreFast() {
        nanosPerLook = 100;
        fill();
        readAtRandom(KEYS);
        assertThat(pool.pageReads()).as("with everything in the page cache").isZero();

        nanosPerLook = 2 * SealedBlockReader.SLOW_NANOS;
        readAtRandom(KEYS);
        long whenSlow = pool.pageReads();
        assertThat(whenSlow).isGreaterThan(KEYS / 4);

        nanosPerLook = 100;
        readAtRandom(4 * KEYS);
        long whenFast = pool.pageReads();
        assertThat(whenFast).isGreaterThan(whenSlow);
        readAtRandom(KEYS);
        assertThat(pool.pageReads()).as("with everything in the page cache").isEqualTo(whenFast);
    }

    @Test
    void entriesOfOnePage_areReadTogether() {
        fill();
        readAtRandom(KEYS);
        long before = pool.pageReads();
        for (int key = 0; key < KEYS; key++) {
            assertThat(get(map.entries(), key)).hasSize(key % 50);
        }

        assertThat(pool.pageReads() - before).isLessThan(KEYS / 10);
    }

    @Test
    void aChunkFileThatSomethingShortened_isNamed() throws IOException {
        fill();
        readAtRandom(KEYS);
        List<Path> chunks;
        try (Stream<Path> files = Files.walk(disk)) {
            chunks =
                    files.filter(file -> file.getFileName().toString().startsWith("chunk-"))
                            .collect(Collectors.toList());
        }
        assertThat(chunks).isNotEmpty();
        for (Path chunk : chunks) {
            try (FileChannel channel = FileChannel.open(chunk, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            }
        }

        assertThatThrownBy(() -> readAtRandom(KEYS))
                .isInstanceOf(UncheckedIOException.class)
                .hasCauseInstanceOf(EOFException.class)
                .cause()
                .hasMessageContaining("chunk-")
                .hasMessageContaining("ends at byte 0")
                .hasMessageContaining("Something else has shortened it");
    }

    private void fill() {
        for (int key = 0; key < KEYS; key++) {
            put(key, new byte[key % 50]);
        }
        assertThat(pool.sealedBytes()).isGreaterThan(0);
    }

    private void readAtRandom(int times) {
        Random random = new Random(5);
        for (int i = 0; i < times; i++) {
            int key = random.nextInt(KEYS);
            assertThat(get(map.entries(), key).length).isEqualTo(key % 50);
        }
    }
}
