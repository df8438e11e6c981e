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

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;

/**
 * The outcome of using another serializer for existing data.
 *
 * @param <T> type of what is written
 */
public final class Transition<T> {

    /** What must be done. */
    public enum Kind {
        /** Nothing: the serializer reads existing data. */
        AS_IS,
        /** Another serializer must be used, which reads existing data. */
        RECONFIGURED,
        /** Existing data must be read by the old serializer and written by the new one. */
        MIGRATED,
        /** It cannot be done. */
        IMPOSSIBLE
    }

    private final Kind kind;
    private final TypeSerializer<T> serializer;

    private Transition(Kind kind, TypeSerializer<T> serializer) {
        this.kind = kind;
        this.serializer = serializer;
    }

    static <T> Transition<T> of(TypeSerializer<T> serializer, TypeSerializerSnapshot<T> earlier) {
        TypeSerializerSchemaCompatibility<T> compatibility;
        try {
            compatibility = serializer.snapshotConfiguration().resolveSchemaCompatibility(earlier);
        } catch (RuntimeException e) {
            // Some snapshots cannot be compared once a class or field is gone from the job.
            return new Transition<>(Kind.IMPOSSIBLE, serializer);
        }
        if (compatibility.isCompatibleAsIs()) {
            return new Transition<>(Kind.AS_IS, serializer);
        }
        if (compatibility.isCompatibleWithReconfiguredSerializer()) {
            return new Transition<>(Kind.RECONFIGURED, compatibility.getReconfiguredSerializer());
        }
        return new Transition<>(
                compatibility.isCompatibleAfterMigration() ? Kind.MIGRATED : Kind.IMPOSSIBLE,
                serializer);
    }

    /** Returns what must be done. */
    public Kind kind() {
        return kind;
    }

    /** Returns the serializer to continue with: the given one, or its reconfigured form. */
    public TypeSerializer<T> serializer() {
        return serializer;
    }

    /** Returns whether existing data stays as it is. */
    public boolean leavesData() {
        return kind == Kind.AS_IS || kind == Kind.RECONFIGURED;
    }
}
