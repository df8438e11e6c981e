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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.pressure.SpillArbiter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.memory.SharedResources;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;

/** All backends of a TaskManager share one arbiter, as long as one of them lives. */
class TaskManagerArbiterTest {

    private final MockEnvironment environment = MockEnvironment.builder().build();
    private final Gauges gauges = new Gauges();

    private AbstractKeyedStateBackend<Integer> open() throws Exception {
        return open(Collections.emptyList());
    }

    private AbstractKeyedStateBackend<Integer> open(List<KeyedStateHandle> handles)
            throws Exception {
        return KeyedBackends.create(
                new SpillableStateBackend(),
                IntSerializer.INSTANCE,
                4,
                new KeyGroupRange(0, 3),
                handles,
                gauges,
                environment);
    }

    /** Returns the shared arbiter; null if there is none. */
    private SpillArbiter shared() throws Exception {
        SharedResources resources = environment.getSharedResources();
        Object lease = new Object();
        AtomicBoolean made = new AtomicBoolean();
        AutoCloseable handle =
                resources
                        .<AutoCloseable>getOrAllocateSharedResource(
                                TaskManagerArbiter.NAME,
                                lease,
                                size -> {
                                    made.set(true);
                                    return () -> {};
                                },
                                0)
                        .resourceHandle();
        resources.release(TaskManagerArbiter.NAME, lease, size -> {});
        return made.get() ? null : (SpillArbiter) handle;
    }

    @Test
    void theFirstBackendStartsIt_andTheLastStopsIt() throws Exception {
        assertThat(shared()).isNull();
        List<AbstractKeyedStateBackend<Integer>> backends = new ArrayList<>();
        backends.add(open());
        SpillArbiter arbiter = shared();
        assertThat(arbiter).isNotNull();
        backends.add(open());
        backends.add(open());
        backends.get(1).dispose();
        backends.get(0).dispose();
        assertThat(shared()).isSameAs(arbiter);
        backends.get(2).dispose();

        assertThat(shared()).isNull();
    }

    @Test
    void aBackend_countsItsStateEverySoManyKeys() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = open();
        ValueState<String> state =
                backend.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>("state", Types.STRING));
        for (int key = 0; key < 10_000; key++) {
            backend.setCurrentKey(key);
            state.update("state");
        }

        assertThat((long) gauges.value("heapEntries")).isBetween(4096L, 10_000L);
        assertThat(gauges.value("spilledEntries")).isEqualTo(0L);
        assertThat(gauges.value("heapKeyGroups")).isEqualTo(4);
        assertThat((long) gauges.value("heapStateBytesEstimate")).isGreaterThan(4096L * 96);
        backend.dispose();
    }

    /** Flink tries the next copy of the snapshot, and refuses metrics that are registered twice. */
    @Test
    void aBackendWhoseRestoreFails_registersNoMetrics() throws Exception {
        List<KeyedStateHandle> damaged =
                Collections.singletonList(
                        new KeyGroupsStateHandle(
                                new KeyGroupRangeOffsets(0, 3),
                                new ByteStreamStateHandle("damaged", new byte[1])));

        assertThatThrownBy(() -> open(damaged)).isInstanceOf(BackendBuildingException.class);

        assertThat(gauges.value("heapEntries")).isEqualTo("none");
        open().dispose();
        assertThat(gauges.value("heapEntries")).isEqualTo(0L);
    }

    @Test
    void theName_isOfThisClassLoadersCopy() {
        assertThat(TaskManagerArbiter.NAME).startsWith("dev.dstl.spillable.pressure.SpillArbiter@");
    }
}
