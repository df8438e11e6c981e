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
import java.util.Collection;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalValueState;

/** A subtask with a value, a list and a map for each key. */
final class KeyedSubtask {

    static final int KEY_GROUPS = 6;

    final KeyGroupRange range;
    final AbstractKeyedStateBackend<Integer> backend;
    final InternalValueState<Integer, VoidNamespace, String> value;
    final InternalListState<Integer, VoidNamespace, String> list;
    final InternalMapState<Integer, VoidNamespace, String, String> map;

    KeyedSubtask(
            StateBackend stateBackend,
            KeyGroupRange range,
            Collection<KeyedStateHandle> from,
            LocalStore local)
            throws Exception {
        this.range = range;
        this.backend =
                KeyedBackends.create(
                        stateBackend,
                        IntSerializer.INSTANCE,
                        KEY_GROUPS,
                        range,
                        from,
                        new UnregisteredMetricsGroup(),
                        local.environment());
        value = state(new ValueStateDescriptor<>("value", Types.STRING));
        list = state(new ListStateDescriptor<>("list", Types.STRING));
        map = state(new MapStateDescriptor<>("map", Types.STRING, Types.STRING));
        value.setCurrentNamespace(VoidNamespace.INSTANCE);
        list.setCurrentNamespace(VoidNamespace.INSTANCE);
        map.setCurrentNamespace(VoidNamespace.INSTANCE);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private <S> S state(StateDescriptor<?, ?> descriptor) throws Exception {
        return (S) backend.getOrCreateKeyedState(VoidNamespaceSerializer.INSTANCE, descriptor);
    }
}
