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

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** One backend with one value state, all of it spilled, and its checkpoints. */
abstract class IncrementalFixture {

    static final int KEY_GROUPS = 4;

    @TempDir Path directory;
    CheckpointStore store;
    AbstractKeyedStateBackend<Integer> backend;
    InternalValueState<Integer, VoidNamespace, String> state;
    private long nextId = 1;

    @BeforeEach
    final void startEmpty() throws Exception {
        store = new CheckpointStore(directory);
        start(Collections.emptyList());
    }

    @AfterEach
    final void stop() {
        if (backend != null) {
            backend.dispose();
            backend = null;
        }
    }

    final void start(Collection<KeyedStateHandle> handles) throws Exception {
        stop();
        backend =
                KeyedBackends.create(
                        stateBackend(),
                        IntSerializer.INSTANCE,
                        KEY_GROUPS,
                        new KeyGroupRange(0, KEY_GROUPS - 1),
                        handles,
                        metrics(),
                        environment());
        register();
    }

    @SuppressWarnings("unchecked") // as the descriptor says
    private void register() throws Exception {
        state =
                (InternalValueState<Integer, VoidNamespace, String>)
                        (Object)
                                backend.getOrCreateKeyedState(
                                        VoidNamespaceSerializer.INSTANCE,
                                        new ValueStateDescriptor<>("counts", values()));
        state.setCurrentNamespace(VoidNamespace.INSTANCE);
    }

    SpillableStateBackend stateBackend() {
        return PlacedBackends.spilled(
                new Configuration().set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true));
    }

    TypeSerializer<String> values() {
        return StringSerializer.INSTANCE;
    }

    MetricGroup metrics() {
        return new UnregisteredMetricsGroup();
    }

    Environment environment() {
        return MockEnvironment.builder().build();
    }

    /** A checkpoint that {@link #checkpoint()} took has completed. */
    void completed(long id, SnapshotResult<KeyedStateHandle> checkpoint) throws Exception {}

    final void put(int key, String value) throws Exception {
        backend.setCurrentKey(key);
        state.update(value);
    }

    final String get(int key) throws Exception {
        backend.setCurrentKey(key);
        return state.value();
    }

    /** Takes a checkpoint that does not complete yet. */
    final KeyedStateHandle write(long id, SnapshotType type) throws Exception {
        return snapshot(id, type).getJobManagerOwnedSnapshot();
    }

    /** Takes a checkpoint that does not complete yet; with its local copy if there is one. */
    final SnapshotResult<KeyedStateHandle> snapshot(long id, SnapshotType type) throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                KeyedBackends.checkpoint(backend, id, store.streams(), type);
        snapshot.run();
        return snapshot.get();
    }

    /** Takes a checkpoint that completes. */
    final KeyedStateHandle checkpoint() throws Exception {
        long id = nextId++;
        SnapshotResult<KeyedStateHandle> result = snapshot(id, CheckpointType.CHECKPOINT);
        KeyedStateHandle handle = result.getJobManagerOwnedSnapshot();
        List<KeyedStateHandle> handles = new ArrayList<>();
        handles.add(handle);
        store.acknowledge(id, handles);
        store.complete(id);
        backend.notifyCheckpointComplete(id);
        completed(id, result);
        return handle;
    }

    /** Takes checkpoints until merges have sealed what there was to seal. */
    final IncrementalRemoteKeyedStateHandle settledCheckpoint() throws Exception {
        KeyedStateHandle handle = checkpoint();
        for (int i = 0; i < 200; i++) {
            long formerBytes = handle.getCheckpointedSize();
            handle = checkpoint();
            if (i > 2 && handle.getCheckpointedSize() == formerBytes) {
                break;
            }
            Thread.sleep(10);
        }
        return (IncrementalRemoteKeyedStateHandle) handle;
    }

    final long nextId() {
        return nextId++;
    }
}
