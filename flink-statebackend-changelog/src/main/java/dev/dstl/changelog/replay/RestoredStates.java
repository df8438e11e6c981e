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

package dev.dstl.changelog.replay;

import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.changelog.schema.SchemaHistory;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.schema.SnapshotSchema;
import dev.dstl.changelog.schema.StateSchema;
import dev.dstl.changelog.schema.Transition;
import java.util.HashMap;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.util.StateMigrationException;

/**
 * The states of a restored delegate. Changelogs and further bases create missing states; the job
 * may later register any of them again. Used by the task thread.
 *
 * @param <K> type of the key
 */
public final class RestoredStates<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    @Nullable private final SnapshotSchema base;
    private final SchemaHistory history;
    private final Map<String, RestoredState<K, ?, ?, ?>> statesByName = new HashMap<>();
    private final Map<String, RestoredQueue<?>> queuesByName = new HashMap<>();

    /**
     * Creates the states.
     *
     * @param delegate contains the base; stays the caller's
     * @param base schema versions of the base; null if there is none
     * @param history records the schema versions of the changelogs
     */
    public RestoredStates(
            AbstractKeyedStateBackend<K> delegate,
            @Nullable SnapshotSchema base,
            SchemaHistory history) {
        this.delegate = delegate;
        this.base = base;
        this.history = history;
    }

    AbstractKeyedStateBackend<K> delegate() {
        return delegate;
    }

    /**
     * Records the schema versions of a state or queue.
     *
     * @return serializer that reads its keys
     * @throws StateMigrationException if the job's key serializer cannot read the keys
     */
    TypeSerializer<K> expect(RestoredRegistration registration) throws StateMigrationException {
        TypeSerializer<K> keySerializer = readerOfKeys(registration.keySerializerSnapshot());
        history.restored(registration.schema());
        history.restoredKeys(SchemaVersion.of(registration.keySerializerSnapshot()));
        return keySerializer;
    }

    /** Returns the state of a name; the first registration determines its kind. */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    <N, V, S extends InternalKvState<K, N, V>> RestoredState<K, N, V, S> state(String name) {
        return (RestoredState<K, N, V, S>)
                statesByName.computeIfAbsent(
                        name, unknown -> new RestoredState<K, N, V, S>(delegate, inBase(name)));
    }

    /** Returns the queue of a name. */
    RestoredQueue<?> queue(String name) {
        return queuesByName.computeIfAbsent(
                name, unknown -> new RestoredQueue<>(delegate, inBase(name)));
    }

    @Nullable
    private StateSchema inBase(String name) {
        return base == null ? null : base.schemaOf(name);
    }

    /** Checks the keys, which the delegate does only for a base, and there may be none. */
    @SuppressWarnings("unchecked") // the compatibility check compares the types
    private TypeSerializer<K> readerOfKeys(TypeSerializerSnapshot<?> snapshot)
            throws StateMigrationException {
        TypeSerializerSnapshot<K> written = (TypeSerializerSnapshot<K>) snapshot;
        TypeSerializer<K> present = delegate.getKeySerializer();
        Transition<K> transition = SchemaVersion.of(written).to(present);
        if (!transition.leavesData()) {
            throw new StateMigrationException(
                    String.format(
                            "The key serializer (%s) must be compatible with the one that wrote the"
                                    + " checkpoint (%s): keys cannot be migrated. Key the job as it"
                                    + " was keyed, or start without this checkpoint.",
                            present, written));
        }
        return transition.serializer();
    }
}
