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
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.testutils.ManuallyTriggeredScheduledExecutorService;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MergeThreadTest {

    private static final int KEYS = 30_000;
    private static final byte[] VALUE = new byte[100];

    @TempDir Path disk;
    private final CallingThread threads = new CallingThread();
    private PartitionedMap map;
    private int keys;

    @Test
    void aThreadThatCannotBeStarted_isOneErrorOfTheTask_andMergesGoOnLater() {
        assertTimeoutPreemptively(
                Duration.ofSeconds(60), this::fillWhileThreadsCannotBeStartedForSomeTime);
        assertThat(disk).isEmptyDirectory();
    }

    private void fillWhileThreadsCannotBeStartedForSomeTime() throws Exception {
        PoolOnDisk disks = new PoolOnDisk(disk, 512 << 10, threads);
        map = disks.newMap();
        threads.isWithoutThreads = true;
        assertThatThrownBy(this::fill)
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("unable to create native thread");
        threads.isWithoutThreads = false;
        fill();

        assertThat(disks.pool().merges()).isPositive();
        assertThat(map.size()).isEqualTo(KEYS);
        for (int i = 0; i < KEYS; i++) {
            byte[] key = key(i);
            int hash = map.entries().keyHash().of(key, key.length);
            assertThat(map.entries().find(key, key.length, hash, false)).isNotZero();
        }
        map.close();
        disks.close();
    }

    @Test
    void mergesThatWaitWhenTheTaskEnds_writeNothing() throws IOException {
        ManuallyTriggeredScheduledExecutorService merges =
                new ManuallyTriggeredScheduledExecutorService();
        PoolOnDisk disks = new PoolOnDisk(disk, 32 << 20, merges);
        List<PartitionedMap> maps = List.of(disks.newMap(), disks.newMap());
        for (PartitionedMap one : maps) {
            map = one;
            keys = 0;
            fill();
        }
        disks.pool().sealLargeOverlays();
        assertThat(merges.numQueuedRunnables()).isGreaterThan(1);
        maps.forEach(PartitionedMap::close);
        disks.pool().close();
        List<Path> files = files();

        while (merges.numQueuedRunnables() > 1) {
            merges.trigger();
            assertThat(files()).isEqualTo(files);
        }
        merges.trigger();

        assertThat(disk).isEmptyDirectory();
        disks.close();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> found = Files.walk(disk)) {
            return found.sorted().collect(Collectors.toList());
        }
    }

    private void fill() {
        while (keys < KEYS) {
            byte[] key = key(keys++);
            int hash = map.entries().keyHash().of(key, key.length);
            map.put(key, key.length, hash, false, VALUE, VALUE.length);
        }
    }

    private static byte[] key(int i) {
        return ("key " + i).getBytes(StandardCharsets.UTF_8);
    }
}
