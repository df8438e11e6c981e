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
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.CompositeTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.java.typeutils.runtime.PojoSerializer;

/**
 * Calls methods of Flink's serializers that are not public and have no public counterparts.
 * Stateless.
 */
final class SerializerInternals {

    private static final TypeSerializer<?>[] NONE = {};

    private SerializerInternals() {}

    /**
     * Returns the class of the POJOs.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    static Class<?> pojoClass(PojoSerializer<?> serializer) throws ReflectiveOperationException {
        return (Class<?>) call(serializer, "getPojoClass");
    }

    /**
     * Returns the fields in write order; null for fields that the class no longer has.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    static Field[] fields(PojoSerializer<?> serializer) throws ReflectiveOperationException {
        return (Field[]) call(serializer, "getFields");
    }

    /**
     * Returns the serializers of {@link #fields}.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    static TypeSerializer<?>[] fieldSerializers(PojoSerializer<?> serializer)
            throws ReflectiveOperationException {
        return (TypeSerializer<?>[]) call(serializer, "getFieldSerializers");
    }

    /**
     * Returns the subclasses that the job has registered.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    @SuppressWarnings("unchecked") // as the method declares it
    static Iterable<Class<?>> registeredSubclasses(PojoSerializer<?> serializer)
            throws ReflectiveOperationException {
        return ((Map<Class<?>, ?>) call(serializer, "getRegisteredClasses")).keySet();
    }

    /**
     * Returns the serializers of {@link #registeredSubclasses}.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    static TypeSerializer<?>[] registeredSerializers(PojoSerializer<?> serializer)
            throws ReflectiveOperationException {
        return (TypeSerializer<?>[]) call(serializer, "getRegisteredSerializers");
    }

    /**
     * Returns the serializers of the subclasses that are not registered and were written, copied or
     * read so far. A live view that grows with the serializer.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    @SuppressWarnings("unchecked") // as the method declares it
    static Map<Class<?>, TypeSerializer<?>> metSubclasses(PojoSerializer<?> serializer)
            throws ReflectiveOperationException {
        return (Map<Class<?>, TypeSerializer<?>>) call(serializer, "getSubclassSerializerCache");
    }

    /**
     * Returns the nested serializers of a serializer; none for a {@link PojoSerializer}.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    static TypeSerializer<?>[] nested(TypeSerializer<?> serializer)
            throws ReflectiveOperationException {
        Optional<TypeSerializer<?>> wrapped = ExpiringState.wrappedBy(serializer);
        if (wrapped.isPresent()) {
            return new TypeSerializer<?>[] {wrapped.get()};
        }
        TypeSerializerSnapshot<?> snapshot = serializer.snapshotConfiguration();
        return snapshot instanceof CompositeTypeSerializerSnapshot
                ? (TypeSerializer<?>[])
                        call(snapshot, "getNestedSerializers", TypeSerializer.class, serializer)
                : NONE;
    }

    /**
     * Returns a serializer like another one, with other nested serializers.
     *
     * @param nested as many as {@link #nested} returns, at least one
     * @throws ReflectiveOperationException if this version of Flink has no such method
     */
    @SuppressWarnings("unchecked") // the new serializer is for the same type
    static <T> TypeSerializer<T> withNested(
            TypeSerializer<T> serializer, TypeSerializer<?>[] nested)
            throws ReflectiveOperationException {
        if (ExpiringState.wrappedBy(serializer).isPresent()) {
            return (TypeSerializer<T>) nested[0];
        }
        return (TypeSerializer<T>)
                call(
                        serializer.snapshotConfiguration(),
                        "createOuterSerializerWithNestedSerializers",
                        TypeSerializer[].class,
                        nested);
    }

    private static Object call(PojoSerializer<?> owner, String name)
            throws ReflectiveOperationException {
        Method method = PojoSerializer.class.getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(owner);
    }

    /** The method is declared in the abstract class and dispatched to that of the snapshot. */
    private static Object call(
            TypeSerializerSnapshot<?> owner, String name, Class<?> parameter, Object argument)
            throws ReflectiveOperationException {
        Method method = CompositeTypeSerializerSnapshot.class.getDeclaredMethod(name, parameter);
        method.setAccessible(true);
        return method.invoke(owner, argument);
    }
}
