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
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * The snapshot of a serializer at the time of writing, needed to read its bytes. Belongs to the
 * task thread, as serializers do.
 *
 * @param <T> type of what is written
 */
public final class SchemaVersion<T> {

    private final TypeSerializerSnapshot<T> snapshot;
    private final boolean migratable;
    @Nullable private byte[] written;

    private SchemaVersion(TypeSerializerSnapshot<T> snapshot, boolean migratable) {
        this.snapshot = snapshot;
        this.migratable = migratable;
    }

    /** The version that a serializer snapshot describes. */
    public static <T> SchemaVersion<T> of(TypeSerializerSnapshot<T> snapshot) {
        return new SchemaVersion<>(snapshot, true);
    }

    /** The version in which a serializer writes now. */
    public static <T> SchemaVersion<T> of(TypeSerializer<T> serializer) {
        return new SchemaVersion<>(serializer.snapshotConfiguration(), true);
    }

    /** The version of a namespace or a timer, which state backends do not migrate. */
    public static <T> SchemaVersion<T> fixed(TypeSerializerSnapshot<T> snapshot) {
        return new SchemaVersion<>(snapshot, false);
    }

    /** The same, as a serializer writes now. */
    public static <T> SchemaVersion<T> fixed(TypeSerializer<T> serializer) {
        return fixed(serializer.snapshotConfiguration());
    }

    /**
     * A serializer that reads its own bytes and writes whatever this version can hold with the
     * classes of the present job. A restored serializer need not be that: it is for reading.
     */
    public TypeSerializer<T> present() {
        TypeSerializer<T> restored = snapshot.restoreSerializer();
        TypeSerializerSnapshot<T> now = restored.snapshotConfiguration();
        try {
            TypeSerializerSchemaCompatibility<T> ofItself =
                    now.resolveSchemaCompatibility(snapshot);
            return ofItself.isCompatibleWithReconfiguredSerializer()
                    ? ofItself.getReconfiguredSerializer()
                    : now.restoreSerializer();
        } catch (RuntimeException e) {
            // Some cannot compare what lacks a class or field that the job no longer has.
            return migratable ? withoutRemovedFields(restored) : restored;
        }
    }

    private TypeSerializer<T> withoutRemovedFields(TypeSerializer<T> restored) {
        try {
            TypeSerializer<T> present = RemovedFields.leaveOut(restored);
            return to(present).kind() == Transition.Kind.IMPOSSIBLE ? restored : present;
        } catch (ReflectiveOperationException | RuntimeException e) {
            // The state backend says why it cannot register the restored one.
            return restored;
        }
    }

    /** Whether either version reads the bytes of the other. */
    public boolean hasSameBytesAs(SchemaVersion<?> other) {
        return this == other
                || (written() != null && Arrays.equals(written(), other.written()))
                || (isAsIs(snapshot, other.snapshot) && isAsIs(other.snapshot, snapshot));
    }

    /** Whether one serializer reads what both versions wrote, and neither holds more. */
    public boolean isSameAs(SchemaVersion<?> other) {
        return hasSameBytesAs(other)
                || (isWrittenAgainAsItWas()
                        && other.isWrittenAgainAsItWas()
                        && Arrays.equals(writtenAgain(), other.writtenAgain()));
    }

    /** What comes of it if {@code serializer} goes on with data of this version. */
    public Transition<T> to(TypeSerializer<T> serializer) {
        return Transition.of(serializer, snapshot);
    }

    private static boolean isAsIs(
            TypeSerializerSnapshot<?> later, TypeSerializerSnapshot<?> earlier) {
        try {
            return resolve(later, earlier).isCompatibleAsIs();
        } catch (RuntimeException e) {
            return false;
        }
    }

    @SuppressWarnings("unchecked") // the check begins with comparing the types
    private static <T> TypeSerializerSchemaCompatibility<T> resolve(
            TypeSerializerSnapshot<T> later, TypeSerializerSnapshot<?> earlier) {
        return later.resolveSchemaCompatibility((TypeSerializerSnapshot<T>) earlier);
    }

    /** The snapshot itself, null if it cannot be written any more. */
    @Nullable
    private byte[] written() {
        if (written == null) {
            written = bytes(snapshot);
        }
        return written;
    }

    /**
     * The snapshot as this process writes it: with some serializers the order of classes differs
     * from process to process.
     */
    @Nullable
    private byte[] writtenAgain() {
        return bytes(snapshot.restoreSerializer().snapshotConfiguration());
    }

    /** Some restored serializers read one version and write another. */
    private boolean isWrittenAgainAsItWas() {
        try {
            TypeSerializerSchemaCompatibility<T> again =
                    snapshot.restoreSerializer()
                            .snapshotConfiguration()
                            .resolveSchemaCompatibility(snapshot);
            return again.isCompatibleAsIs() || again.isCompatibleWithReconfiguredSerializer();
        } catch (RuntimeException e) {
            return false;
        }
    }

    private static byte[] bytes(TypeSerializerSnapshot<?> snapshot) {
        DataOutputSerializer target = new DataOutputSerializer(256);
        try {
            TypeSerializerSnapshot.writeVersionedSnapshot(target, snapshot);
        } catch (IOException | RuntimeException e) {
            return null;
        }
        return target.getCopyOfBuffer();
    }

    @Override
    public String toString() {
        return snapshot.toString();
    }
}
