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

package dev.dstl.spillable.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.PoolOnDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job that catches the exception of an access which fails because memory is used up and no disk
 * takes state, and goes on.
 */
class MemoryUsedUpTest {

    private static final int ACCESSES = 500;

    @TempDir Path disk;
    private PoolOnDisk disks;
    private PartitionedMap map;

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 512 << 10);
        map = disks.newMap();
        try (Stream<Path> directories = Files.list(disk)) {
            FileUtils.deleteDirectory(
                    directories.findFirst().orElseThrow(IOException::new).toFile());
        }
        PlainLayout<Integer, Integer, String> layout =
                new PlainLayout<>(
                        IntSerializer.INSTANCE, IntSerializer.INSTANCE, StringSerializer.INSTANCE);
        assertThatThrownBy(
                        () -> {
                            for (int key = 0; true; key++) {
                                layout.select(key, 1);
                                layout.write(map, "s".repeat(100_000));
                            }
                        })
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no disk takes it");
    }

    @AfterEach
    void close() throws IOException {
        map.close();
        disks.close();
    }

    @Test
    void anElementThatWasAddedToAList_isThereWholly() throws IOException {
        ListLayout<Integer, Integer, String> layout =
                new ListLayout<>(
                        IntSerializer.INSTANCE,
                        IntSerializer.INSTANCE,
                        new ListSerializer<>(StringSerializer.INSTANCE));
        List<String> expected = new ArrayList<>();
        layout.select(1, 0);
        int failed = 0;
        for (int i = 0; i < ACCESSES; i++) {
            String element = "element " + i + "e".repeat(i);
            try {
                layout.add(map, element);
            } catch (IllegalStateException e) {
                failed++;
            }
            expected.add(element);
            assertThat(layout.read(map.entries())).isEqualTo(expected);
        }
        assertThat(failed).isPositive();
    }

    @Test
    void aUserEntryThatWasPutIntoAMap_isThereWholly() throws IOException {
        MapLayout<Integer, Integer, Integer, String> layout =
                new MapLayout<>(
                        IntSerializer.INSTANCE,
                        IntSerializer.INSTANCE,
                        new MapSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE));
        Map<Integer, String> expected = new HashMap<>();
        layout.select(1, 0);
        int failed = 0;
        for (int i = 0; i < ACCESSES; i++) {
            try {
                if (i % 5 == 4) {
                    expected.remove(i / 2);
                    layout.remove(map, i / 2);
                } else {
                    expected.put(i, "value " + i);
                    layout.put(map, i, "value " + i);
                }
            } catch (IllegalStateException e) {
                failed++;
            }
            assertThat(layout.read(map.entries())).isEqualTo(expected);
        }
        assertThat(failed).isPositive();
    }
}
