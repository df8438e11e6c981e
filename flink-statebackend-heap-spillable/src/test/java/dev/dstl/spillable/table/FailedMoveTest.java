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

package dev.dstl.spillable.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.PlainLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** State that moves or is rewritten while something fails. */
class FailedMoveTest {

    private static final StateIdentity IDENTITY = new StateIdentity(0, "state", 0);

    @TempDir Path disk;
    private PoolOnDisk disks;

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 512 << 10);
    }

    @Test
    void aMapOfWhichNotAllCanBeSpilled_isOnTheHeapOnly() throws IOException {
        MapSerializer<String, String> serializer =
                new MapSerializer<>(StringSerializer.INSTANCE, new RefusingSerializer());
        MapLayout<Integer, Integer, String, String> layout =
                new MapLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, serializer);
        KeyGroupMap<Integer, Integer, Map<String, String>> map =
                new KeyGroupMap<>(serializer, IDENTITY, new EntrySizes());
        Map<String, String> state = new LinkedHashMap<>();
        for (int i = 0; i < 100; i++) {
            state.put("user key " + i, null);
        }
        state.put("the last user key", "cannot be written");
        map.put(1, 0, state, layout);
        map.startSpill(disks.pool());

        assertThatThrownBy(() -> map.spill(1, layout))
                .isInstanceOf(IOException.class)
                .hasMessage("refused");

        assertThat(map.heapSize()).isOne();
        assertThat(map.spilledSize()).as("the same map once more").isZero();
        layout.select(1, 0);
        map.remove(1, 0, layout);
        assertThat(map.get(1, 0, layout)).isNull();
        map.close();
        disks.close();
    }

    @Test
    void aChangeThatTakesAnEntryBackToTheHeap_isNotLost_ifMemoryIsUsedUp() throws IOException {
        PlainLayout<Integer, Integer, String> layout = plainLayout();
        KeyGroupMap<Integer, Integer, String> map =
                new KeyGroupMap<>(StringSerializer.INSTANCE, IDENTITY, new EntrySizes());
        map.startSpill(disks.pool());
        layout.select(1, 0);
        map.put(1, 0, "spilled", layout);
        map.startLoad();
        PartitionedMap other = disks.newMap();
        useUpMemory(other);

        layout.select(1, 0);
        assertThatThrownBy(() -> map.put(1, 0, "changed", layout))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no disk takes it");

        layout.select(1, 0);
        assertThat(map.get(1, 0, layout)).isEqualTo("changed");
        assertThat(map.size()).isOne();
        other.close();
        map.close();
        disks.close();
    }

    private void useUpMemory(PartitionedMap other) throws IOException {
        try (Stream<Path> directories = Files.list(disk)) {
            FileUtils.deleteDirectory(
                    directories.findFirst().orElseThrow(IOException::new).toFile());
        }
        PlainLayout<Integer, Integer, String> layout = plainLayout();
        assertThatThrownBy(
                        () -> {
                            for (int key = 0; true; key++) {
                                layout.select(key, 0);
                                layout.write(other, "s".repeat(100_000));
                            }
                        })
                .isInstanceOf(IllegalStateException.class);
    }

    private static PlainLayout<Integer, Integer, String> plainLayout() {
        return new PlainLayout<>(
                IntSerializer.INSTANCE, IntSerializer.INSTANCE, StringSerializer.INSTANCE);
    }

    @Test
    void aMigrationThatFails_leavesWhatThereWas_andTakesNoMemory() throws IOException {
        ListLayout<Integer, Integer, String> from = listLayout(StringSerializer.INSTANCE);
        ListLayout<Integer, Integer, String> to = listLayout(new RefusingSerializer());
        KeyGroupMap<Integer, Integer, List<String>> map =
                new KeyGroupMap<>(
                        new ListSerializer<>(StringSerializer.INSTANCE),
                        IDENTITY,
                        new EntrySizes());
        for (int key = 0; key < 100; key++) {
            map.put(key, 0, new ArrayList<>(), from);
        }
        map.put(100, 0, Collections.singletonList("cannot be written"), from);
        map.startSpill(disks.pool());
        map.spill(Integer.MAX_VALUE, from);

        assertThatThrownBy(() -> map.reencode(disks.pool(), from, to))
                .isInstanceOf(IOException.class)
                .hasMessage("refused");

        from.select(100, 0);
        assertThat(map.get(100, 0, from)).containsExactly("cannot be written");
        assertThat(map.size()).isEqualTo(101);
        map.close();
        disks.close();
    }

    @Test
    void aMigrationThatFindsOtherEntriesThanWerePut_fails_andLeavesThem() throws IOException {
        PlainLayout<Integer, Integer, String> layout = plainLayout();
        KeyGroupMap<Integer, Integer, String> map =
                new KeyGroupMap<>(StringSerializer.INSTANCE, IDENTITY, new EntrySizes());
        PartitionedMap damaged = disks.newMap();
        for (int key = 0; key < 2; key++) {
            layout.select(key, 0);
            layout.write(damaged, "state " + key);
        }
        layout.select(2, 0);
        byte[] lost = layout.copySelected();
        int hash = damaged.entries().keyHash().of(lost, lost.length);
        damaged.restoreChange(lost, lost.length, hash, false, lost, 0, true, true);
        map.restoreSpilled(damaged);

        assertThatThrownBy(() -> map.reencode(disks.pool(), layout, layout.duplicate()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Spilled state is damaged")
                .hasMessageContaining(IDENTITY.toString());

        layout.select(1, 0);
        assertThat(map.get(1, 0, layout)).isEqualTo("state 1");
        map.close();
        disks.close();
    }

    private static ListLayout<Integer, Integer, String> listLayout(
            TypeSerializer<String> elements) {
        return new ListLayout<>(
                IntSerializer.INSTANCE, IntSerializer.INSTANCE, new ListSerializer<>(elements));
    }
}
