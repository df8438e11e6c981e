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

package dev.dstl.spillable.layout;

import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;

/** Chooses how a kind of state lies in spilled entries. */
public final class SpilledLayouts {

    private SpilledLayouts() {}

    /**
     * A new layout for a state. A list or map whose serializer is not the one Flink makes for it
     * lies in one entry.
     *
     * @param states decides the type of the layout together with {@code type}; it and the other
     *     serializers are used by the layout's thread only
     */
    @SuppressWarnings("unchecked") // the kind of state decides the type of its serializer
    public static <K, N, S> SpilledLayout<K, N, S> of(
            StateDescriptor.Type type,
            TypeSerializer<K> keys,
            TypeSerializer<N> namespaces,
            TypeSerializer<S> states) {
        if (type == StateDescriptor.Type.LIST && states instanceof ListSerializer) {
            return (SpilledLayout<K, N, S>)
                    new ListLayout<>(keys, namespaces, (ListSerializer<Object>) states);
        }
        if (type == StateDescriptor.Type.MAP && states instanceof MapSerializer) {
            return (SpilledLayout<K, N, S>)
                    new MapLayout<>(keys, namespaces, (MapSerializer<Object, Object>) states);
        }
        return new PlainLayout<>(keys, namespaces, states);
    }
}
