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

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.config.SpillableOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random operations, checkpoints that overlap, complete and are aborted in any order, of which
 * tasks hear late or never, crashes and rescales, against plain maps, Flink's registry of shared
 * state and its store of local copies, which disks lose or damage now and then. The seed is the
 * parameter; {@code -Dincremental.first} and {@code -Dincremental.count} choose others.
 */
class IncrementalModelTest {

    private static final int STEPS = 100;

    /** To files of earlier checkpoints, by those of all seeds. */
    private static final AtomicInteger REFERENCES = new AtomicInteger();

    /** Notifications of completed checkpoints that tasks did not get, by all seeds. */
    private static final AtomicInteger LOST = new AtomicInteger();

    /** Restores of subtasks from local copies, by all seeds. */
    private static final AtomicInteger LOCAL_RESTORES = new AtomicInteger();

    /** Local copies of incremental checkpoints that could not be restored, by all seeds. */
    private static final AtomicInteger DAMAGED_COPIES = new AtomicInteger();

    @TempDir Path directory;
    @TempDir Path disks;
    private Random random;
    private CheckpointStore store;
    private ModelState model = new ModelState();
    private ModelState completedModel = new ModelState();
    private long completedId;
    private List<KeyedSubtask> subtasks = new ArrayList<>();
    private Map<KeyGroupRange, LocalStore> localStores = new HashMap<>();
    private final TreeMap<Long, PendingCheckpoint> pending = new TreeMap<>();

    /** Checkpoints of whose completion a task hears after the next one has begun. */
    private final Map<KeyedSubtask, Long> late = new LinkedHashMap<>();

    private boolean full;
    private long nextId = 1;

    static LongStream seeds() {
        long first = Long.getLong("incremental.first", 1);
        return LongStream.range(first, first + Long.getLong("incremental.count", 8));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void restoredState_isWhatTheLastCompletedCheckpointHeld(long seed) throws Exception {
        random = new Random(seed);
        store = new CheckpointStore(directory);
        start(Collections.emptyList());
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(10)) {
                case 0:
                case 1:
                case 2:
                case 3:
                    model.change(800, subtasks, random);
                    break;
                case 4:
                case 5:
                    if (pending.size() < 3) {
                        trigger();
                    }
                    break;
                case 6:
                    if (!pending.isEmpty()) {
                        acknowledge(any());
                    }
                    break;
                case 7:
                    if (!pending.isEmpty()) {
                        complete(any());
                        trigger();
                    }
                    break;
                case 8:
                    if (!pending.isEmpty()) {
                        abort(any());
                    }
                    break;
                default:
                    if (random.nextInt(3) == 0) {
                        crash();
                    }
            }
        }
        trigger();
        complete(pending.lastKey());
        assertThat(store.filesOnDisk()).isEqualTo(CheckpointStore.files(store.completed()));
        for (LocalStore local : localStores.values()) {
            assertThat(local.files())
                    .isNotEmpty()
                    .allMatch(file -> file.toString().contains("chk_" + completedId));
        }
        crash();
        model.verify(subtasks);
        dispose();
    }

    @AfterAll
    static void checkpointsHaveSharedFiles() {
        assertThat(REFERENCES).hasValueGreaterThan(10);
        assertThat(LOST).hasValueGreaterThan(10);
        assertThat(LOCAL_RESTORES).hasValueGreaterThan(10);
        assertThat(DAMAGED_COPIES).hasPositiveValue();
    }

    private long any() {
        return new ArrayList<>(pending.keySet()).get(random.nextInt(pending.size()));
    }

    private StateBackend backend() {
        Configuration config = new Configuration();
        config.set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(1));
        config.set(SpillableOptions.CHUNK_SIZE, MemorySize.ofMebiBytes(1));
        config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, random.nextInt(8) > 0);
        return random.nextInt(3) == 0
                ? PlacedBackends.random(config, random.nextLong())
                : PlacedBackends.spilled(config);
    }

    private void start(List<KeyedStateHandle> handles) throws Exception {
        // Mostly with the former parallelism, for which there are local copies.
        int parallelism =
                localStores.isEmpty() || random.nextInt(3) == 0
                        ? 1 + random.nextInt(3)
                        : localStores.size();
        Map<KeyGroupRange, LocalStore> former = localStores;
        localStores = new HashMap<>();
        for (int i = 0; i < parallelism; i++) {
            KeyGroupRange range =
                    KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                            KeyedSubtask.KEY_GROUPS, parallelism, i);
            List<KeyedStateHandle> parts = new ArrayList<>();
            for (KeyedStateHandle handle : handles) {
                KeyedStateHandle part = handle.getIntersection(range);
                if (part != null) {
                    parts.add(part);
                }
            }
            LocalStore local = former.remove(range);
            if (local == null) {
                local = new LocalStore(disks.resolve("1"), disks.resolve("2"));
            }
            localStores.put(range, local);
            subtasks.add(start(range, parts, local));
        }
        former.values().forEach(LocalStore::dispose);
        // As with claim mode NO_CLAIM.
        full = random.nextInt(4) == 0;
    }

    /** As Flink does: from the local copy, if that fails from the checkpoint. */
    private KeyedSubtask start(KeyGroupRange range, List<KeyedStateHandle> parts, LocalStore local)
            throws Exception {
        if (random.nextInt(4) == 0) {
            local.restartProcess();
        }
        KeyedStateHandle copy = local.retrieve(completedId);
        local.restoreFrom(completedId);
        if (copy != null && parts.size() == 1) {
            assertThat(copy.getKeyGroupRange()).isEqualTo(parts.get(0).getKeyGroupRange());
            boolean damaged =
                    copy instanceof IncrementalLocalKeyedStateHandle
                            && random.nextInt(6) == 0
                            && damage(LocalStore.directory(copy));
            try {
                KeyedSubtask subtask =
                        new KeyedSubtask(backend(), range, Collections.singletonList(copy), local);
                assertThat(damaged).as("was damaged").isFalse();
                LOCAL_RESTORES.incrementAndGet();
                return subtask;
            } catch (BackendBuildingException e) {
                if (!damaged) {
                    throw e;
                }
                DAMAGED_COPIES.incrementAndGet();
                local.abort(completedId);
            }
        }
        return new KeyedSubtask(backend(), range, parts, local);
    }

    private boolean damage(Path copy) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(copy)) {
            files = all.sorted().collect(Collectors.toList());
        }
        Path file = files.get(random.nextInt(files.size()));
        byte[] bytes = Files.readAllBytes(file);
        boolean shared =
                !file.endsWith(CheckpointFiles.DIRECTORY)
                        && !file.endsWith(CheckpointFiles.HEAP_ENTRIES);
        int kind = random.nextInt(3);
        if (kind == 0) {
            Files.delete(file);
        } else if (kind == 1 && !shared) {
            // A shared file has parts that are not in use.
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, bytes);
        } else {
            Files.write(file, new byte[bytes.length / 2]);
        }
        return true;
    }

    private void dispose() {
        late.clear();
        subtasks.forEach(subtask -> subtask.backend.dispose());
        subtasks = new ArrayList<>();
    }

    private void crash() throws Exception {
        for (long id : new ArrayList<>(pending.keySet())) {
            PendingCheckpoint one = pending.remove(id);
            one.finish();
            if (!one.acknowledged) {
                one.discard();
            }
            store.abort(id);
            localStores.values().forEach(local -> local.abort(id));
        }
        dispose();
        model = completedModel.copy();
        start(store.completed());
        model.verify(subtasks);
    }

    private void trigger() throws Exception {
        long id = nextId++;
        PendingCheckpoint one = new PendingCheckpoint(model.copy());
        for (KeyedSubtask subtask : subtasks) {
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                    KeyedBackends.checkpoint(
                            subtask.backend,
                            id,
                            store.streams(),
                            full ? CheckpointType.FULL_CHECKPOINT : CheckpointType.CHECKPOINT);
            one.snapshots.add(snapshot);
            one.writing.add(CompletableFuture.runAsync(snapshot));
        }
        pending.put(id, one);
        for (Map.Entry<KeyedSubtask, Long> completed : late.entrySet()) {
            completed.getKey().backend.notifyCheckpointComplete(completed.getValue());
        }
        late.clear();
    }

    private void acknowledge(long id) throws Exception {
        PendingCheckpoint one = pending.get(id);
        if (!one.acknowledged) {
            one.finish();
            List<KeyedStateHandle> handles = one.handles();
            for (KeyedStateHandle handle : handles) {
                if (handle instanceof IncrementalRemoteKeyedStateHandle) {
                    ((IncrementalRemoteKeyedStateHandle) handle)
                            .getSharedState().stream()
                                    .map(HandleAndLocalPath::getHandle)
                                    .filter(PlaceholderStreamStateHandle.class::isInstance)
                                    .forEach(file -> REFERENCES.incrementAndGet());
                }
            }
            store.acknowledge(id, handles);
            for (int i = 0; i < subtasks.size(); i++) {
                localStores.get(subtasks.get(i).range).store(id, one.snapshots.get(i).get());
            }
            one.acknowledged = true;
        }
    }

    private void complete(long id) throws Exception {
        acknowledge(id);
        completedModel = pending.remove(id).model;
        while (!pending.isEmpty() && pending.firstKey() < id) {
            abort(pending.firstKey());
        }
        store.complete(id);
        completedId = id;
        localStores.values().forEach(local -> local.confirm(id));
        assertThat(store.filesOnDisk()).containsAll(CheckpointStore.files(store.completed()));
        for (KeyedSubtask subtask : subtasks) {
            int fate = random.nextInt(8);
            if (fate == 0) {
                LOST.incrementAndGet();
            } else if (fate == 1) {
                late.put(subtask, id);
            } else {
                subtask.backend.notifyCheckpointComplete(id);
            }
        }
        full = false;
    }

    private void abort(long id) throws Exception {
        PendingCheckpoint one = pending.remove(id);
        one.finish();
        if (one.acknowledged) {
            store.abort(id);
        } else {
            // What comes too late is registered nowhere, and its receiver discards it.
            one.discard();
        }
        localStores.values().forEach(local -> local.abort(id));
        if (random.nextInt(4) > 0) {
            for (KeyedSubtask subtask : subtasks) {
                subtask.backend.notifyCheckpointAborted(id);
            }
        }
    }
}
