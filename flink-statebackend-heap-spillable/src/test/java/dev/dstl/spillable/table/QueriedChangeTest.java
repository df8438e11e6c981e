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

import dev.dstl.spillable.layout.ListLayout;
import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.WatchedIntegers;
import dev.dstl.spillable.overlay.PoolOnDisk;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a query finds of a spilled map that the task changes in its midst. */
class QueriedChangeTest {

    private static final int KEY = 1;

    /** What happens once, when the next value of a map is written or read. */
    private static Runnable onWrite = () -> {};

    private static Runnable onRead = () -> {};

    /** Lets a test do something in the midst of it. */
    private static final class WatchedValues extends WatchedIntegers {
        private static final long serialVersionUID = 1L;

        @Override
        protected void written() {
            Runnable now = onWrite;
            onWrite = () -> {};
            now.run();
        }

        @Override
        protected void read() {
            Runnable now = onRead;
            onRead = () -> {};
            now.run();
        }

        @Override
        public TypeSerializerSnapshot<Integer> snapshotConfiguration() {
            throw new UnsupportedOperationException("Not needed by the test");
        }
    }

    @TempDir Path disk;
    private PoolOnDisk disks;
    private final MapSerializer<Integer, Integer> serializer =
            new MapSerializer<>(IntSerializer.INSTANCE, new WatchedValues());
    private final MapLayout<Integer, Integer, Integer, Integer> layout =
            new MapLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, serializer);
    private final KeyGroupMap<Integer, Integer, Map<Integer, Integer>> group =
            new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());

    @BeforeEach
    void spill() throws IOException {
        disks = new PoolOnDisk(disk, 4 << 20);
        group.put(KEY, 0, map(0, 1000), layout);
        group.startSpill(disks.pool());
        while (group.residency() == Residency.SPILLING) {
            group.spill(1, layout);
        }
        layout.select(KEY, 0);
    }

    @AfterEach
    void close() throws IOException {
        onWrite = () -> {};
        onRead = () -> {};
        group.close();
        disks.close();
    }

    private static Map<Integer, Integer> map(int from, int to) {
        Map<Integer, Integer> map = new HashMap<>();
        for (int i = from; i < to; i++) {
            map.put(i, i);
        }
        return map;
    }

    private Map<Integer, Integer> query() {
        return new StateQuery<>("state", group, layout.duplicate())
                .<Map<Integer, Integer>>read(KEY, 0, state -> state);
    }

    private void putUserEntries(int from, int to) {
        try {
            for (int i = from; i < to; i++) {
                layout.put(group.spilled(layout), i, i);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatAMapHasThroughout_isFound_thoughItsBucketsSplitMeanwhile() {
        onRead = () -> putUserEntries(1000, 9000);

        assertThat(query().keySet()).containsAll(map(0, 1000).keySet());
        int after = layout.elements(group.spilled(layout).entries());
        assertThat(after).as("user entries put in the midst of the query").isEqualTo(9000);
    }

    @Test
    void aMapThatIsReplaced_isFoundAsItWasOrAsItIs() throws Exception {
        List<Map<Integer, Integer>> found = new CopyOnWriteArrayList<>();
        StateQuery<Integer, Integer, Map<Integer, Integer>> query =
                new StateQuery<>("state", group, layout.duplicate());
        Thread thread =
                new Thread(() -> found.add(query.<Map<Integer, Integer>>read(KEY, 0, s -> s)));
        onWrite =
                () -> {
                    thread.start();
                    try {
                        // Long enough for several looks, unless they are in vain.
                        thread.join(200);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                };

        group.put(KEY, 0, map(5000, 7000), layout);

        thread.join();
        assertThat(found).hasSize(1);
        assertThat(found.get(0)).isIn(map(0, 1000), map(5000, 7000));
    }

    @Test
    void aListThatIsReplaced_isFoundAsItWasAtOneMoment() throws Exception {
        ListSerializer<Integer> lists = new ListSerializer<>(IntSerializer.INSTANCE);
        ListLayout<Integer, Integer, Integer> listLayout =
                new ListLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, lists);
        KeyGroupMap<Integer, Integer, List<Integer>> listGroup =
                new KeyGroupMap<>(lists, new StateIdentity(1, "lists", 0), new EntrySizes());
        listGroup.startSpill(disks.pool());
        listLayout.select(KEY, 0);
        listGroup.put(KEY, 0, Collections.nCopies(5000, 0), listLayout);
        StateQuery<Integer, Integer, List<Integer>> query =
                new StateQuery<>("lists", listGroup, listLayout.duplicate());
        AtomicInteger reads = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        Future<Integer> torn =
                threads.submit(
                        () -> {
                            int count = 0;
                            while (!done.get()) {
                                List<Integer> list = query.<List<Integer>>read(KEY, 0, s -> s);
                                boolean isWhole = list != null && list.size() == 5000;
                                count += isWhole && new HashSet<>(list).size() == 1 ? 0 : 1;
                                reads.incrementAndGet();
                            }
                            return count;
                        });

        for (int round = 0; round < 300 || reads.get() == 0; round++) {
            listGroup.put(KEY, 0, Collections.nCopies(5000, round), listLayout);
            Thread.sleep(round % 3);
        }
        done.set(true);

        assertThat(torn.get()).isZero();
        threads.shutdown();
        listGroup.close();
    }

    @Test
    void anEntryOnTheHeap_isFoundWhileTheMapGrows() throws Exception {
        KeyGroupMap<Integer, Integer, Map<Integer, Integer>> onHeap =
                new KeyGroupMap<>(serializer, new StateIdentity(2, "heap", 0), new EntrySizes());
        Map<Integer, Integer> state = map(0, 1);
        onHeap.put(-1, 0, state, layout);
        StateQuery<Integer, Integer, Map<Integer, Integer>> query =
                new StateQuery<>("heap", onHeap, layout.duplicate());
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        Future<Integer> missed =
                threads.submit(
                        () -> {
                            int count = 0;
                            while (!done.get()) {
                                boolean found =
                                        query.<Map<Integer, Integer>>read(-1, 0, s -> s) != null;
                                count += found ? 0 : 1;
                            }
                            return count;
                        });

        for (int key = 0; key < 1_000_000; key++) {
            onHeap.put(key, 0, state, layout);
        }
        done.set(true);

        assertThat(missed.get()).isZero();
        threads.shutdown();
    }
}
