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

package dev.dstl.spillable.state;

import dev.dstl.spillable.table.StateTable;
import java.util.Collection;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.internal.InternalMergingState;

/** A state that takes in single values and can be merged over namespaces. */
abstract class TableMergingState<K, N, IN, S, OUT> extends TableState<K, N, S>
        implements InternalMergingState<K, N, IN, S, OUT> {

    TableMergingState(StateTable<K, N, S> table, TypeSerializer<K> keySerializer, S defaultValue) {
        super(table, keySerializer, defaultValue);
    }

    @Override
    public S getInternal() {
        return entry.get(namespace);
    }

    @Override
    public void updateInternal(S state) {
        if (state == null) {
            clear();
        } else {
            entry.put(namespace, state);
        }
    }

    @Override
    public void mergeNamespaces(N target, Collection<N> sources) throws Exception {
        if (sources == null || sources.isEmpty()) {
            return;
        }
        S merged = null;
        for (N source : sources) {
            S state = entry.removeAndGet(source);
            if (state != null) {
                merged = merged == null ? state : merge(merged, state);
            }
        }
        if (merged != null) {
            entry.transform(
                    target,
                    merged,
                    (previous, addition) ->
                            previous == null ? addition : merge(previous, addition));
        }
    }

    /** Merges two states, either of which may be changed by it. */
    abstract S merge(S first, S second) throws Exception;
}
