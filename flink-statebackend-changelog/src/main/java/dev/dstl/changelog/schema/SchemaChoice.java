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

import java.io.IOException;
import java.util.Arrays;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Chooses the schema version of a state that receives values of another version. Snapshots of
 * serializers do not show which of two is newer: a POJO that lost a field can be migrated, too. So
 * a version is replaced only if the other can read it and the reverse is impossible, or, if both
 * are possible, once a value arrives that would lose information in it.
 *
 * @param <T> type of what is written
 */
public final class SchemaChoice<T> {

    @Nullable private final TypeSerializer<T> replacement;
    private final boolean open;

    private SchemaChoice(@Nullable TypeSerializer<T> replacement, boolean open) {
        this.replacement = replacement;
        this.open = open;
    }

    /**
     * Chooses a version. If neither can replace the other, it is the added one, which the state
     * backend then refuses with its own message.
     *
     * @param present version of the state
     * @param added version of the values to write
     */
    public static <T> SchemaChoice<T> between(SchemaVersion<T> present, SchemaVersion<T> added) {
        if (present.isSameAs(added)) {
            return new SchemaChoice<>(null, false);
        }
        TypeSerializer<T> replacement = added.present();
        Transition<T> forward = present.to(replacement);
        if (forward.kind() == Transition.Kind.AS_IS
                && !SchemaVersion.of(replacement).hasSameBytesAs(present)) {
            // Flink compares an enum with the class, not with the older order of this serializer.
            return new SchemaChoice<>(null, true);
        }
        if (forward.leavesData()) {
            return new SchemaChoice<>(replacement, false);
        }
        Transition<T> backward = added.to(present.present());
        switch (backward.kind()) {
            case AS_IS:
            case RECONFIGURED:
                return new SchemaChoice<>(backward.serializer(), false);
            case MIGRATED:
                return new SchemaChoice<>(null, forward.kind() == Transition.Kind.MIGRATED);
            default:
                return new SchemaChoice<>(replacement, false);
        }
    }

    /** Returns the serializer with which to register the state, null if it stays as it is. */
    @Nullable
    public TypeSerializer<T> replacement() {
        return replacement;
    }

    /** Returns whether each value must be checked with {@link #keeps}. */
    public boolean isOpen() {
        return open;
    }

    /**
     * Returns whether {@code present} keeps all information of a value that {@code added} has read.
     *
     * @param value not changed
     */
    public static <T> boolean keeps(TypeSerializer<T> present, TypeSerializer<T> added, T value) {
        try {
            byte[] kept = bytes(present, value);
            T after = present.deserialize(new DataInputDeserializer(kept));
            return Arrays.equals(bytes(added, value), bytes(added, after));
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    private static <T> byte[] bytes(TypeSerializer<T> serializer, T value) throws IOException {
        DataOutputSerializer target = new DataOutputSerializer(64);
        serializer.serialize(value, target);
        return target.getCopyOfBuffer();
    }
}
