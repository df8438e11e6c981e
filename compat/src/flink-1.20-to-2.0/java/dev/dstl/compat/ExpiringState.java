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

package dev.dstl.compat;

import java.util.Optional;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializer;

/** Tells serializers of state with a time to live. */
public final class ExpiringState {

    private ExpiringState() {}

    /** Returns whether a serializer of state writes when its values, elements or entries expire. */
    public static boolean isSerializedBy(TypeSerializer<?> serializer) {
        return TtlSerializer.isTtlStateSerializer(serializer);
    }

    /**
     * Returns the serializer around which Flink has wrapped another one to compare it. From 2.1 on
     * that of the values of a map stays wrapped when that of its keys was reconfigured.
     */
    public static Optional<TypeSerializer<?>> wrappedBy(TypeSerializer<?> serializer) {
        return Optional.empty();
    }

    /** Returns a serializer, for state, without what {@link #wrappedBy} tells. */
    public static <T> TypeSerializer<T> unwrapped(TypeSerializer<T> serializer) {
        return serializer;
    }

    /** Returns the snapshot of a serializer, for state, without what {@link #wrappedBy} tells. */
    public static <T> TypeSerializerSnapshot<T> unwrapped(TypeSerializerSnapshot<T> snapshot) {
        return snapshot;
    }
}
