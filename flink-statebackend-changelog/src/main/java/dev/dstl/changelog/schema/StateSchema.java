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

package dev.dstl.changelog.schema;

import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.CommonSerializerKeys;

/** The schema version of a state. Belongs to the task thread. */
public final class StateSchema {

    private final String name;
    @Nullable private final SchemaVersion<?> namespaces;
    private final SchemaVersion<?> values;

    /**
     * Creates a schema version.
     *
     * @param namespaces version of the namespaces; null for timers
     * @param values version of whole values; for timers, of the elements
     */
    public StateSchema(
            String name, @Nullable SchemaVersion<?> namespaces, SchemaVersion<?> values) {
        this.name = name;
        this.namespaces = namespaces;
        this.values = values;
    }

    /** Returns the version of a state in a snapshot header. */
    public static StateSchema of(StateMetaInfoSnapshot state) {
        TypeSerializerSnapshot<?> values = snapshot(state, CommonSerializerKeys.VALUE_SERIALIZER);
        return state.getBackendStateType() == BackendStateType.PRIORITY_QUEUE
                ? new StateSchema(state.getName(), null, SchemaVersion.fixed(values))
                : new StateSchema(
                        state.getName(),
                        SchemaVersion.fixed(
                                snapshot(state, CommonSerializerKeys.NAMESPACE_SERIALIZER)),
                        SchemaVersion.of(values));
    }

    private static TypeSerializerSnapshot<?> snapshot(
            StateMetaInfoSnapshot state, CommonSerializerKeys serializer) {
        TypeSerializerSnapshot<?> snapshot = state.getTypeSerializerSnapshot(serializer);
        if (snapshot == null) {
            throw new IllegalArgumentException(
                    "State '" + state.getName() + "' has no snapshot of its " + serializer);
        }
        return snapshot;
    }

    /** Returns the name of the state. */
    public String name() {
        return name;
    }

    /** Returns the version of the namespaces, null for timers. */
    @Nullable
    public SchemaVersion<?> namespaces() {
        return namespaces;
    }

    /** Returns the version of whole values; for timers, of the elements. */
    public SchemaVersion<?> values() {
        return values;
    }

    /** Returns whether one registration can read what both versions wrote. */
    public boolean isSameAs(StateSchema other) {
        if (namespaces == null || other.namespaces == null) {
            return namespaces == other.namespaces && values.isSameAs(other.values);
        }
        return namespaces.isSameAs(other.namespaces) && values.isSameAs(other.values);
    }
}
