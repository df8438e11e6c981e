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

import dev.dstl.compat.ExpiringState;
import java.io.IOException;
import java.util.Arrays;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * The schema version of written values: the snapshot of their serializer, which is needed to read
 * them. Used by the task thread, as serializers are.
 *
 * @param <T> type of what is written
 */
public final class SchemaVersion<T> {

    private final TypeSerializerSnapshot<T> snapshot;
    private final boolean migratable;
    @Nullable private byte[] written;

    private SchemaVersion(TypeSerializerSnapshot<T> snapshot, boolean migratable) {
        this.snapshot = ExpiringState.unwrapped(snapshot);
        this.migratable = migratable;
    }

    /** Returns the version that a serializer snapshot describes. */
    public static <T> SchemaVersion<T> of(TypeSerializerSnapshot<T> snapshot) {
        return new SchemaVersion<>(snapshot, true);
    }

    /** Returns the version in which a serializer writes now. */
    public static <T> SchemaVersion<T> of(TypeSerializer<T> serializer) {
        return new SchemaVersion<>(serializer.snapshotConfiguration(), true);
    }

    /** Returns the version of namespaces or timers, which state backends do not migrate. */
    public static <T> SchemaVersion<T> fixed(TypeSerializerSnapshot<T> snapshot) {
        return new SchemaVersion<>(snapshot, false);
    }

    /** Returns the version of namespaces or timers as a serializer writes them now. */
    public static <T> SchemaVersion<T> fixed(TypeSerializer<T> serializer) {
        return fixed(serializer.snapshotConfiguration());
    }

    /**
     * Returns a serializer that reads its own bytes and writes all values of this version that the
     * job's present classes can hold. A restored serializer may not do that, since it is for
     * reading.
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
            // Some snapshots cannot be compared once a class or field is gone from the job.
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

    /** Returns whether each version can read the bytes of the other. */
    public boolean hasSameBytesAs(SchemaVersion<?> other) {
        return this == other
                || (written() != null && Arrays.equals(written(), other.written()))
                || (isAsIs(snapshot, other.snapshot) && isAsIs(other.snapshot, snapshot));
    }

    /**
     * Returns whether one serializer reads what both versions wrote, without losing information of
     * either.
     */
    public boolean isSameAs(SchemaVersion<?> other) {
        return hasSameBytesAs(other)
                || (isWrittenAgainAsItWas()
                        && other.isWrittenAgainAsItWas()
                        && Arrays.equals(writtenAgain(), other.writtenAgain()));
    }

    /** Returns the outcome of using {@code serializer} for data of this version. */
    public Transition<T> to(TypeSerializer<T> serializer) {
        return Transition.of(ExpiringState.unwrapped(serializer), snapshot);
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

    /** Returns the bytes of the snapshot, null if it cannot be written any more. */
    @Nullable
    private byte[] written() {
        if (written == null) {
            written = bytes(snapshot);
        }
        return written;
    }

    /**
     * Returns the bytes of the snapshot as written by this process. With some serializers, the
     * order of classes differs between processes.
     */
    @Nullable
    private byte[] writtenAgain() {
        return bytes(snapshot.restoreSerializer().snapshotConfiguration());
    }

    /** Some restored serializers write another version than they read. */
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
