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

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeutils.CompositeTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.java.typeutils.runtime.PojoSerializer;

/**
 * Leaves out of restored POJO serializers the fields that the classes of the job no longer have.
 * Such a serializer reads what was written with the fields, but Flink cannot compare it with
 * others, and so refuses to register a state with it.
 *
 * <p>Calls methods of Flink's serializers that are not public. Stateless.
 */
final class RemovedFields {

    private RemovedFields() {}

    /**
     * A serializer for the same type, however deep the POJOs are nested in it.
     *
     * @param restored not changed
     * @return {@code restored} itself if it has no POJO in it; otherwise a serializer that may
     *     write other bytes
     * @throws ReflectiveOperationException if this version of Flink has no such methods
     */
    @SuppressWarnings("unchecked") // a serializer of the same type takes its place
    static <T> TypeSerializer<T> leaveOut(TypeSerializer<T> restored)
            throws ReflectiveOperationException {
        if (restored instanceof PojoSerializer) {
            return (TypeSerializer<T>) pojo((PojoSerializer<?>) restored);
        }
        TypeSerializerSnapshot<T> outer = restored.snapshotConfiguration();
        return outer instanceof CompositeTypeSerializerSnapshot
                ? composite(restored, (CompositeTypeSerializerSnapshot<T, ?>) outer)
                : restored;
    }

    /** The subclasses that were written, but are not registered, are found again when written. */
    private static PojoSerializer<?> pojo(PojoSerializer<?> restored)
            throws ReflectiveOperationException {
        Field[] fields = (Field[]) call(restored, "getFields");
        TypeSerializer<?>[] serializers =
                (TypeSerializer<?>[]) call(restored, "getFieldSerializers");
        List<Field> present = new ArrayList<>();
        List<TypeSerializer<?>> ofPresent = new ArrayList<>();
        for (int i = 0; i < fields.length; i++) {
            if (fields[i] != null) {
                present.add(fields[i]);
                ofPresent.add(leaveOut(serializers[i]));
            }
        }
        SerializerConfigImpl config = new SerializerConfigImpl();
        for (Object registered : ((Map<?, ?>) call(restored, "getRegisteredClasses")).keySet()) {
            config.registerPojoType((Class<?>) registered);
        }
        return new PojoSerializer<>(
                (Class<?>) call(restored, "getPojoClass"),
                ofPresent.toArray(new TypeSerializer<?>[0]),
                present.toArray(new Field[0]),
                config);
    }

    @SuppressWarnings("unchecked") // the snapshot makes serializers of its own type
    private static <T> TypeSerializer<T> composite(
            TypeSerializer<T> restored, CompositeTypeSerializerSnapshot<T, ?> outer)
            throws ReflectiveOperationException {
        TypeSerializer<?>[] nested =
                (TypeSerializer<?>[])
                        call(outer, "getNestedSerializers", TypeSerializer.class, restored);
        TypeSerializer<?>[] present = new TypeSerializer<?>[nested.length];
        for (int i = 0; i < nested.length; i++) {
            present[i] = leaveOut(nested[i]);
        }
        return (TypeSerializer<T>)
                call(
                        outer,
                        "createOuterSerializerWithNestedSerializers",
                        TypeSerializer[].class,
                        present);
    }

    private static Object call(PojoSerializer<?> owner, String name)
            throws ReflectiveOperationException {
        Method method = PojoSerializer.class.getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(owner);
    }

    /** Of the abstract class: what is called is the method of the snapshot's own class. */
    private static Object call(
            CompositeTypeSerializerSnapshot<?, ?> owner,
            String name,
            Class<?> parameter,
            Object argument)
            throws ReflectiveOperationException {
        Method method = CompositeTypeSerializerSnapshot.class.getDeclaredMethod(name, parameter);
        method.setAccessible(true);
        return method.invoke(owner, argument);
    }
}
