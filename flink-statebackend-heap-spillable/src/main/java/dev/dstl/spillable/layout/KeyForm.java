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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Tells whether spilled entries have to be rewritten for another serializer. They are found by the
 * bytes of their keys, and a compatible serializer reads those but may write others: Kryo and POJO
 * serializers write the number of a class once it is registered, and its name before.
 */
public final class KeyForm {

    private KeyForm() {}

    /** Whether two serializers may write the same with other bytes. */
    @SuppressWarnings("ReferenceEquality") // a serializer need not be able to describe itself
    public static boolean differs(TypeSerializer<?> written, TypeSerializer<?> registered) {
        return written != registered
                && !Arrays.equals(
                        bytes(written.snapshotConfiguration()),
                        bytes(registered.snapshotConfiguration()));
    }

    /** Whether the user keys of two serializers of maps may have other bytes. */
    public static boolean ofUserKeysDiffers(
            TypeSerializer<?> written, TypeSerializer<?> registered) {
        return written instanceof MapSerializer
                && registered instanceof MapSerializer
                && differs(
                        ((MapSerializer<?, ?>) written).getKeySerializer(),
                        ((MapSerializer<?, ?>) registered).getKeySerializer());
    }

    private static byte[] bytes(TypeSerializerSnapshot<?> snapshot) {
        DataOutputSerializer out = new DataOutputSerializer(256);
        try {
            TypeSerializerSnapshot.writeVersionedSnapshot(out, snapshot);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot serialize " + snapshot, e);
        }
        return out.getCopyOfBuffer();
    }
}
