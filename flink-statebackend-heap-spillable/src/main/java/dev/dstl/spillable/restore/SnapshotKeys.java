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

package dev.dstl.spillable.restore;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.util.StateMigrationException;

/**
 * The serializers that have written the keys of the handles of a restore. They may differ: a
 * subtask that has restored an earlier version of the job keeps the order in which that one had
 * registered its classes, and one that had nothing to restore has the order of the new version.
 */
final class SnapshotKeys<K> {

    private final StateSerializerProvider<K> job;
    private boolean jobIsReconfigured;

    /**
     * @param job is reconfigured as the first handle needs it
     */
    SnapshotKeys(StateSerializerProvider<K> job) {
        this.job = job;
    }

    /** The job's serializer, as reconfigured for the first handle. */
    TypeSerializer<K> current() {
        return job.currentSchemaSerializer();
    }

    /** Checks and reads the keys of the next handle, once it is told what has written them. */
    StateSerializerProvider<K> next() {
        if (!jobIsReconfigured) {
            jobIsReconfigured = true;
            return job;
        }
        return StateSerializerProvider.fromNewRegisteredSerializer(job.currentSchemaSerializer());
    }

    /**
     * The serializer that has written the keys of the next handle.
     *
     * @throws StateMigrationException if the job's serializer cannot replace it
     */
    TypeSerializer<K> next(TypeSerializerSnapshot<K> written) throws StateMigrationException {
        StateSerializerProvider<K> next = next();
        TypeSerializer<K> current = next.currentSchemaSerializer();
        TypeSerializerSchemaCompatibility<K> compatibility =
                next.setPreviousSerializerSnapshotForRestoredState(written);
        if (compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible()) {
            throw new StateMigrationException(
                    String.format(
                            "The new key serializer (%s) must be compatible with the previous key"
                                    + " serializer (%s); keys cannot be migrated. Keep the key type.",
                            current, next.previousSchemaSerializer()));
        }
        return next.previousSchemaSerializer();
    }
}
