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

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/** The schema versions of a snapshot of a state backend. Belongs to the task thread. */
public final class SnapshotSchema {

    private final TypeSerializerSnapshot<?> keys;
    private final SchemaVersion<?> keyVersion;
    private final List<StateMetaInfoSnapshot> states;
    private final Map<String, StateSchema> byName = new LinkedHashMap<>();

    /**
     * Creates the schema versions of a snapshot.
     *
     * @param keys snapshot of the key serializer
     * @param states states and timers of the snapshot
     */
    public SnapshotSchema(TypeSerializerSnapshot<?> keys, List<StateMetaInfoSnapshot> states) {
        this.keys = keys;
        this.keyVersion = SchemaVersion.of(keys);
        this.states = List.copyOf(states);
        for (StateMetaInfoSnapshot state : states) {
            byName.put(state.getName(), StateSchema.of(state));
        }
    }

    /** Returns the snapshot of the key serializer. */
    public TypeSerializerSnapshot<?> keys() {
        return keys;
    }

    /** Returns the states and timers as the state backend describes them. */
    public List<StateMetaInfoSnapshot> states() {
        return states;
    }

    /** Returns the schema versions of the states and timers. */
    public Collection<StateSchema> schemas() {
        return byName.values();
    }

    /** Returns the schema version of a state, null if the snapshot does not contain it. */
    @Nullable
    public StateSchema schemaOf(String state) {
        return byName.get(state);
    }

    /**
     * Returns whether a state backend can restore both snapshots together, which it reads with the
     * serializers of one.
     */
    public boolean isSameAs(SnapshotSchema other) {
        if (!keyVersion.isSameAs(other.keyVersion)) {
            return false;
        }
        for (StateSchema state : byName.values()) {
            StateSchema there = other.byName.get(state.name());
            if (there != null && !state.isSameAs(there)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the schema versions of a state backend that has restored both snapshots.
     *
     * @param other compatible with this one, see {@link #isSameAs}
     */
    public SnapshotSchema with(SnapshotSchema other) {
        List<StateMetaInfoSnapshot> all = new ArrayList<>(states);
        for (StateMetaInfoSnapshot state : other.states) {
            if (!byName.containsKey(state.getName())) {
                all.add(state);
            }
        }
        return all.size() == states.size() ? this : new SnapshotSchema(keys, all);
    }
}
