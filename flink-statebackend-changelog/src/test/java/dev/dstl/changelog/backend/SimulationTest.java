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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.log.testing.RetryingTempDirFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.RunnableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;

/**
 * A task updates state, takes, materializes and aborts checkpoints and crashes in any order, with a
 * JobManager that deletes everything that no retained checkpoint contains. After each crash, the
 * task must find exactly the state of the last completed checkpoint.
 */
class SimulationTest {

    private static final int KEYS = 6;

    @Property(tries = 20)
    void restoredState_isThatOfTheLastCompletedCheckpoint_onTheHeap(
            @ForAll int seed, @ForAll @IntRange(min = 10, max = 120) int steps) throws Exception {
        simulate(Delegate.HASHMAP, LogStorage.DSTL, seed, steps);
    }

    @Property(tries = 8)
    void restoredState_isThatOfTheLastCompletedCheckpoint_inRocksDb(
            @ForAll int seed, @ForAll @IntRange(min = 10, max = 80) int steps) throws Exception {
        simulate(Delegate.ROCKSDB_INCREMENTAL, LogStorage.DSTL, seed, steps);
    }

    @Property(tries = 8)
    void restoredState_isThatOfTheLastCompletedCheckpoint_withTimersOnTheHeap(
            @ForAll int seed, @ForAll @IntRange(min = 10, max = 80) int steps) throws Exception {
        simulate(Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP, LogStorage.MEMORY, seed, steps);
    }

    private static void simulate(Delegate delegate, LogStorage storage, int seed, int steps)
            throws Exception {
        Path directory = Files.createTempDirectory("simulation");
        try {
            new Simulation(directory, delegate, storage, new Random(seed)).run(steps);
        } catch (Throwable t) {
            throw new AssertionError("With seed " + seed + " and " + steps + " steps", t);
        } finally {
            RetryingTempDirFactory.delete(directory);
        }
    }

    /** Contents of the task, now and at checkpoints. */
    private static final class Contents {
        final Map<Integer, String> values = new TreeMap<>();
        final Map<Integer, Map<String, String>> maps = new TreeMap<>();
        final Map<Integer, List<String>> lists = new TreeMap<>();
        final TreeSet<Long> timers = new TreeSet<>();

        Contents copy() {
            Contents copy = new Contents();
            copy.values.putAll(values);
            maps.forEach((key, map) -> copy.maps.put(key, new TreeMap<>(map)));
            lists.forEach((key, list) -> copy.lists.put(key, new ArrayList<>(list)));
            copy.timers.addAll(timers);
            return copy;
        }
    }

    private static final class Simulation {
        private final Path directory;
        private final Delegate delegate;
        private final LogStorage storage;
        private final Random random;
        private final FakeJobManager jobManager = new FakeJobManager();
        private final TreeMap<Long, RunnableFuture<SnapshotResult<KeyedStateHandle>>> running =
                new TreeMap<>();
        private final TreeMap<Long, Contents> pending = new TreeMap<>();

        private TestTask task;
        private Contents contents = new Contents();
        private Contents completed = new Contents();
        private boolean materializing;
        private long lastCheckpoint;
        private long lastTimer;

        Simulation(Path directory, Delegate delegate, LogStorage storage, Random random) {
            this.directory = directory;
            this.delegate = delegate;
            this.storage = storage;
            this.random = random;
        }

        void run(int steps) throws Exception {
            restart();
            for (int step = 0; step < steps; step++) {
                step();
            }
            crash();
            task.close();
        }

        private void step() throws Exception {
            int choice = random.nextInt(100);
            if (choice < 40) {
                update();
            } else if (choice < 53) {
                trigger(CheckpointType.CHECKPOINT);
            } else if (choice < 56) {
                trigger(CheckpointType.FULL_CHECKPOINT);
            } else if (choice < 68) {
                acknowledge();
            } else if (choice < 78) {
                complete();
            } else if (choice < 84) {
                abort();
            } else if (choice < 95) {
                materialize();
            } else {
                crash();
            }
        }

        private void update() throws Exception {
            int key = random.nextInt(KEYS);
            String text = Integer.toString(random.nextInt(100));
            switch (random.nextInt(8)) {
                case 0:
                    task.value(key).clear();
                    contents.values.remove(key);
                    break;
                case 1:
                    task.map(key).put(text, text);
                    contents.maps.computeIfAbsent(key, k -> new TreeMap<>()).put(text, text);
                    break;
                case 2:
                    task.map(key).clear();
                    contents.maps.remove(key);
                    break;
                case 3:
                    task.list(key).add(text);
                    contents.lists.computeIfAbsent(key, k -> new ArrayList<>()).add(text);
                    break;
                case 4:
                    task.list(key).clear();
                    contents.lists.remove(key);
                    break;
                case 5:
                    lastTimer++;
                    task.timers().add(TestTask.timer(key, lastTimer));
                    contents.timers.add(lastTimer);
                    break;
                case 6:
                    TimerHeapInternalTimer<?, ?> polled = task.timers().poll();
                    assertThat(polled == null ? null : polled.getTimestamp())
                            .isEqualTo(contents.timers.pollFirst());
                    break;
                default:
                    task.value(key).update(text);
                    contents.values.put(key, text);
            }
        }

        private void trigger(SnapshotType type) throws Exception {
            lastCheckpoint++;
            running.put(lastCheckpoint, task.trigger(lastCheckpoint, type));
            pending.put(lastCheckpoint, contents.copy());
        }

        private void acknowledge() throws Exception {
            if (!running.isEmpty()) {
                long checkpoint = some(running);
                jobManager.acknowledge(checkpoint, TestTask.finish(running.remove(checkpoint)));
            }
        }

        private void complete() throws Exception {
            TreeMap<Long, Contents> acknowledged = new TreeMap<>(pending);
            acknowledged.keySet().removeAll(running.keySet());
            if (!acknowledged.isEmpty()) {
                long checkpoint = some(acknowledged);
                jobManager.complete(checkpoint);
                completed = pending.get(checkpoint);
                pending.headMap(checkpoint, true).clear();
                cancel(new ArrayList<>(running.headMap(checkpoint, true).keySet()));
                if (random.nextInt(5) > 0) {
                    task.changelog().notifyCheckpointComplete(checkpoint);
                }
                if (random.nextInt(5) > 0) {
                    task.changelog().notifyCheckpointSubsumed(checkpoint - 1);
                }
            }
        }

        private void abort() throws Exception {
            if (!pending.isEmpty()) {
                long checkpoint = some(pending);
                jobManager.abort(checkpoint);
                pending.remove(checkpoint);
                cancel(List.of(checkpoint));
                task.changelog().notifyCheckpointAborted(checkpoint);
            }
        }

        /** Ends aborted checkpoints: cancelled, acknowledged late, or lost. */
        private void cancel(List<Long> checkpoints) throws Exception {
            for (long checkpoint : checkpoints) {
                RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                        running.remove(checkpoint);
                if (future != null && random.nextBoolean()) {
                    future.cancel(true);
                } else if (future != null) {
                    KeyedStateHandle late = TestTask.finish(future);
                    if (random.nextBoolean()) {
                        jobManager.acknowledgeLate(checkpoint, late);
                    }
                }
            }
        }

        private long some(NavigableMap<Long, ?> byCheckpoint) {
            List<Long> ids = new ArrayList<>(byCheckpoint.keySet());
            return ids.get(random.nextInt(ids.size()));
        }

        private void materialize() throws Exception {
            if (materializing) {
                task.mailbox.runNext();
                materializing = false;
            } else {
                materializing = task.beginMaterialization();
            }
        }

        private void crash() throws Exception {
            task.close();
            materializing = false;
            running.clear();
            pending.clear();
            contents = completed.copy();
            restart();
        }

        private void restart() throws Exception {
            task = TestTask.start(directory, delegate, storage, jobManager);
            task.timers();
            verify();
        }

        private void verify() throws Exception {
            Contents found = new Contents();
            for (int key = 0; key < KEYS; key++) {
                if (task.value(key).value() != null) {
                    found.values.put(key, task.value(key).value());
                }
                Map<String, String> map = new HashMap<>();
                task.map(key).entries().forEach(entry -> map.put(entry.getKey(), entry.getValue()));
                if (!map.isEmpty()) {
                    found.maps.put(key, map);
                }
                List<String> list = new ArrayList<>();
                if (task.list(key).get() != null) {
                    task.list(key).get().forEach(list::add);
                }
                if (!list.isEmpty()) {
                    found.lists.put(key, list);
                }
            }
            assertThat(found.values).isEqualTo(contents.values);
            assertThat(found.maps).isEqualTo(contents.maps);
            assertThat(found.lists).isEqualTo(contents.lists);
            assertThat(task.timerTimes()).isEqualTo(contents.timers);
        }
    }
}
