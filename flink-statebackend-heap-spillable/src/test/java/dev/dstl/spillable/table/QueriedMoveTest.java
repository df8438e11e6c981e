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

import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.java.typeutils.runtime.CopyableValueSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.CopyableValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a query finds while an entry goes from one side to the other. */
class QueriedMoveTest {

    /** A key that lets a test look whenever it is looked up on the heap. */
    public static final class WatchedKey implements CopyableValue<WatchedKey> {
        private static final long serialVersionUID = 1L;

        private static Runnable onHash = () -> {};

        private int id;

        private static Runnable onEquals = () -> {};

        /** Of all ids alike. */
        @Override
        public int hashCode() {
            onHash.run();
            return 1;
        }

        @Override
        public boolean equals(Object other) {
            onEquals.run();
            return other instanceof WatchedKey && ((WatchedKey) other).id == id;
        }

        @Override
        public int getBinaryLength() {
            return Integer.BYTES;
        }

        @Override
        public void copyTo(WatchedKey target) {
            target.id = id;
        }

        @Override
        public WatchedKey copy() {
            WatchedKey copy = new WatchedKey();
            copyTo(copy);
            return copy;
        }

        @Override
        public void copy(DataInputView source, DataOutputView target) throws IOException {
            target.write(source, Integer.BYTES);
        }

        @Override
        public void write(DataOutputView out) throws IOException {
            out.writeInt(id);
        }

        @Override
        public void read(DataInputView in) throws IOException {
            id = in.readInt();
        }
    }

    private static final WatchedKey KEY = new WatchedKey();

    @TempDir Path disk;
    private PoolOnDisk disks;
    private final MapSerializer<Integer, Integer> serializer =
            new MapSerializer<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE);
    private final MapLayout<WatchedKey, Integer, Integer, Integer> layout =
            new MapLayout<>(
                    new CopyableValueSerializer<>(WatchedKey.class),
                    IntSerializer.INSTANCE,
                    serializer);
    private final MapLayout<WatchedKey, Integer, Integer, Integer> ofTheQuery = layout.duplicate();
    private final KeyGroupMap<WatchedKey, Integer, Map<Integer, Integer>> group =
            new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
    private final List<Boolean> looks = new ArrayList<>();

    @BeforeEach
    void spill() throws IOException {
        disks = new PoolOnDisk(disk, 512 << 10);
        group.put(KEY, 0, map(), layout);
        group.startSpill(disks.pool());
        while (group.residency() == Residency.SPILLING) {
            group.spill(1, layout);
        }
    }

    private static Map<Integer, Integer> map() {
        Map<Integer, Integer> map = new HashMap<>();
        for (int i = 0; i < 1000; i++) {
            map.put(i, i);
        }
        return map;
    }

    @AfterEach
    void close() throws IOException {
        WatchedKey.onHash = () -> {};
        WatchedKey.onEquals = () -> {};
        group.close();
        disks.close();
    }

    private void query() {
        WatchedKey.onHash = () -> {};
        try {
            looks.add(group.peek(KEY, 0, ofTheQuery) != null);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        WatchedKey.onHash = this::query;
    }

    @Test
    void aMapThatIsLoaded_isFoundAtAnyMoment() throws IOException {
        group.startLoad();
        WatchedKey.onHash = this::query;

        while (group.residency() == Residency.LOADING) {
            group.load(1, Double.MAX_VALUE, layout);
        }

        assertThat(looks).isNotEmpty().containsOnly(true);
    }

    @Test
    void aMapThatIsReplacedWhileItsGroupIsLoading_isFoundAtAnyMoment() throws IOException {
        group.startLoad();
        layout.select(KEY, 0);
        WatchedKey.onHash = this::query;

        group.put(KEY, 0, map(), layout);

        assertThat(looks).isNotEmpty().containsOnly(true);
        assertThat(group.spilledSize()).isZero();
    }

    private void loadAll() {
        WatchedKey.onEquals = () -> {};
        try {
            while (group.residency() == Residency.LOADING) {
                group.load(1, Double.MAX_VALUE, layout);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatIsLoadedBetweenTwoLooksOfAQuery_isFound() throws IOException {
        WatchedKey other = new WatchedKey();
        other.id = 2;
        group.startLoad();
        layout.select(other, 0);
        group.put(other, 0, map(), layout);
        assertThat(group.heapSize()).as("what the query compares its key with").isOne();
        assertThat(group.spilledSize()).isOne();
        WatchedKey.onEquals = this::loadAll;

        StateQuery<WatchedKey, Integer, Map<Integer, Integer>> query =
                new StateQuery<>("state", group, ofTheQuery);
        assertThat(query.<Map<Integer, Integer>>read(KEY, 0, state -> state)).isEqualTo(map());
    }
}
