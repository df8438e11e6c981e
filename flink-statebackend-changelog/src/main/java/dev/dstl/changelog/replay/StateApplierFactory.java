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

import dev.dstl.changelog.delegate.BulkLoad;
import dev.dstl.changelog.delegate.BulkTarget;
import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.changelog.record.StateKind;
import dev.dstl.changelog.schema.SchemaVersion;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.util.StateMigrationException;

/**
 * Chooses the applier of a state or queue: by its kind, and as bytes if records and delegate use
 * the same format. Used by the task thread.
 *
 * @param <K> type of the key
 */
final class StateApplierFactory<K> {

    private final RestoredStates<K> states;

    StateApplierFactory(RestoredStates<K> states) {
        this.states = states;
    }

    /**
     * Creates or updates a state or queue in the delegate.
     *
     * @param bulkLoad takes records as bytes; null to apply entry by entry
     * @throws StateMigrationException if the job's serializers are incompatible with those that
     *     wrote the state
     * @throws Exception if the delegate fails otherwise
     */
    StateApplier create(RestoredRegistration registration, @Nullable BulkLoad bulkLoad)
            throws Exception {
        StateApplier entries = create(registration);
        boolean sameKeys =
                bulkLoad != null
                        && SchemaVersion.of(registration.keySerializerSnapshot())
                                .hasSameBytesAs(
                                        SchemaVersion.of(states.delegate().getKeySerializer()));
        if (!sameKeys) {
            return entries;
        }
        return registration.kind() == StateKind.QUEUE
                ? bulkQueue(entries, bulkLoad)
                : bulkState(entries, bulkLoad);
    }

    private StateApplier bulkQueue(StateApplier entries, BulkLoad bulkLoad) {
        RestoredRegistration registration = entries.registration();
        RestoredQueue<?> restored = states.queue(registration.name());
        BulkTarget target = bulkLoad.queue(registration.name());
        return target != null && restored.takesBytesOf(registration)
                ? new BulkQueueApplier(entries, restored, target)
                : entries;
    }

    private StateApplier bulkState(StateApplier entries, BulkLoad bulkLoad) {
        RestoredRegistration registration = entries.registration();
        RestoredState<K, ?, ?, ?> restored = states.state(registration.name());
        BulkTarget target = bulkLoad.state(registration.name(), registration.namespaceSerializer());
        if (target == null || !restored.takesBytesOf(registration)) {
            return entries;
        }
        switch (registration.kind()) {
            case LIST:
                return new BulkListApplier(entries, restored, target);
            case MAP:
                return new BulkMapApplier(entries, restored, target);
            default:
                return new BulkStateApplier(entries, restored, target);
        }
    }

    /**
     * Creates or updates a state or queue whose records are applied entry by entry.
     *
     * @throws StateMigrationException if the job's serializers are incompatible with those that
     *     wrote the state
     * @throws Exception if the delegate fails otherwise
     */
    StateApplier create(RestoredRegistration registration) throws Exception {
        TypeSerializer<K> keySerializer = states.expect(registration);
        if (registration.kind() == StateKind.QUEUE) {
            RestoredQueue<?> queue = states.queue(registration.name());
            queue.expect(registration);
            return new QueueApplier<>(
                    registration, queue, states.delegate().getKeyContext().getNumberOfKeyGroups());
        }
        boolean open = states.state(registration.name()).expect(registration);
        switch (registration.kind()) {
            case VALUE:
                return new ValueApplier<>(
                        registration, states.state(registration.name()), keySerializer, open);
            case LIST:
                return new ListApplier<>(
                        registration, states.state(registration.name()), keySerializer, open);
            case MAP:
                return new MapApplier<>(
                        registration, states.state(registration.name()), keySerializer, open);
            case REDUCING:
            case AGGREGATING:
                return new ResultApplier<>(
                        registration, states.state(registration.name()), keySerializer, open);
            default:
                throw new IllegalArgumentException("Unknown state kind " + registration.kind());
        }
    }
}
