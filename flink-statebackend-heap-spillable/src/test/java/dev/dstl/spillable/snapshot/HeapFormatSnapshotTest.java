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

package dev.dstl.spillable.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Snapshots restore on Flink's heap backend and back, compressed or not, with any placement. */
class HeapFormatSnapshotTest {

    private static final int KEYS = 2000;
    private static final KeyGroupRange RANGE = new KeyGroupRange(0, 3);

    private static AbstractKeyedStateBackend<Integer> open(
            StateBackend backend, boolean compressed, Collection<KeyedStateHandle> handles)
            throws Exception {
        ExecutionConfig executionConfig = new ExecutionConfig();
        executionConfig.setUseSnapshotCompression(compressed);
        return KeyedBackends.create(
                backend,
                IntSerializer.INSTANCE,
                4,
                RANGE,
                handles,
                new UnregisteredMetricsGroup(),
                MockEnvironment.builder().setExecutionConfig(executionConfig).build());
    }

    private static ValueState<String> state(AbstractKeyedStateBackend<Integer> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("state", Types.STRING));
    }

    private static void fill(AbstractKeyedStateBackend<Integer> backend, String prefix)
            throws Exception {
        ValueState<String> state = state(backend);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            state.update(prefix + key);
        }
    }

    private static void verify(AbstractKeyedStateBackend<Integer> backend, String prefix)
            throws Exception {
        ValueState<String> state = state(backend);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).isEqualTo(prefix + key);
        }
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(KEYS);
    }

    private static StateBackend placed(String placement) {
        switch (placement) {
            case "heap":
                return PlacedBackends.onHeap();
            case "spilled":
                return PlacedBackends.spilled(new Configuration());
            default:
                return PlacedBackends.random(new Configuration(), 11);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "heap, false",
        "heap, true",
        "spilled, false",
        "spilled, true",
        "moving, false",
        "moving, true"
    })
    void aSnapshot_isRestoredByFlinksHeapBackend_andBack(String placement, boolean compressed)
            throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                open(placed(placement), compressed, Collections.emptyList());
        fill(backend, "state ");
        Collection<KeyedStateHandle> first =
                KeyedBackends.handles(KeyedBackends.checkpoint(backend, 1));
        backend.dispose();

        AbstractKeyedStateBackend<Integer> flinks =
                open(new HashMapStateBackend(), compressed, first);
        verify(flinks, "state ");
        Collection<KeyedStateHandle> second =
                KeyedBackends.handles(KeyedBackends.checkpoint(flinks, 2));
        flinks.dispose();

        AbstractKeyedStateBackend<Integer> again = open(placed(placement), !compressed, second);
        verify(again, "state ");
        again.dispose();
    }

    @Test
    void aSnapshot_isOfTheMomentItWasPrepared() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                open(placed("moving"), false, Collections.emptyList());
        List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> snapshots = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            fill(backend, "round " + i + " ");
            snapshots.add(KeyedBackends.checkpoint(backend, i));
        }
        fill(backend, "later ");
        Collections.reverse(snapshots);
        for (int i = 3; i >= 0; i--) {
            Collection<KeyedStateHandle> handles = KeyedBackends.handles(snapshots.get(3 - i));
            AbstractKeyedStateBackend<Integer> restored =
                    open(new HashMapStateBackend(), false, handles);
            verify(restored, "round " + i + " ");
            restored.dispose();
        }
        backend.dispose();
    }

    @Test
    void aSnapshotThatIsCancelled_givesItsViewBack() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                open(placed("spilled"), false, Collections.emptyList());
        fill(backend, "state ");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                KeyedBackends.checkpoint(backend, 1);
        snapshot.cancel(true);
        snapshot.run();

        assertThatThrownBy(snapshot::get).isInstanceOf(CancellationException.class);
        fill(backend, "changed ");
        verify(backend, "changed ");
        backend.dispose();
    }

    @Test
    void aBackendWithoutState_hasAnEmptySnapshot() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                open(placed("heap"), false, Collections.emptyList());

        assertThat(KeyedBackends.handles(KeyedBackends.checkpoint(backend, 1))).isEmpty();
        backend.dispose();
    }

    @Test
    void everyKeyGroup_hasAnOffset_inRisingOrder() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                open(placed("moving"), false, Collections.emptyList());
        fill(backend, "state ");
        KeyGroupsStateHandle handle =
                (KeyGroupsStateHandle)
                        KeyedBackends.handles(KeyedBackends.checkpoint(backend, 1))
                                .iterator()
                                .next();
        backend.dispose();

        assertThat(handle.getKeyGroupRange()).isEqualTo(RANGE);
        long before = 0;
        for (int keyGroup : RANGE) {
            assertThat(handle.getOffsetForKeyGroup(keyGroup)).isGreaterThan(before);
            before = handle.getOffsetForKeyGroup(keyGroup);
        }
        assertThat(handle.getStateSize()).isGreaterThan(before);
    }
}
