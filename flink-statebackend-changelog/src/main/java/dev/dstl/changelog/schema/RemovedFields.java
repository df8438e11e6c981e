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
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.runtime.PojoSerializer;

/**
 * Removes fields from restored POJO serializers that the job's classes no longer have. Such a
 * serializer reads values with these fields, but Flink cannot compare it with others and therefore
 * refuses to register a state with it. Stateless.
 */
final class RemovedFields {

    private RemovedFields() {}

    /**
     * Returns a serializer for the same type without removed fields, in nested POJOs as well.
     *
     * @param restored not changed
     * @return may write other bytes than {@code restored}
     * @throws ReflectiveOperationException if this version of Flink does not expose the parts of
     *     its serializers
     */
    @SuppressWarnings("unchecked") // a serializer of the same type takes its place
    static <T> TypeSerializer<T> leaveOut(TypeSerializer<T> restored)
            throws ReflectiveOperationException {
        if (restored instanceof PojoSerializer) {
            return (TypeSerializer<T>) pojo((PojoSerializer<?>) restored);
        }
        TypeSerializer<?>[] nested = SerializerInternals.nested(restored);
        if (nested.length == 0) {
            return restored;
        }
        TypeSerializer<?>[] present = new TypeSerializer<?>[nested.length];
        for (int i = 0; i < nested.length; i++) {
            present[i] = leaveOut(nested[i]);
        }
        return SerializerInternals.withNested(restored, present);
    }

    /**
     * Subclasses that were written without being registered are found again when they are written.
     */
    private static PojoSerializer<?> pojo(PojoSerializer<?> restored)
            throws ReflectiveOperationException {
        Field[] fields = SerializerInternals.fields(restored);
        TypeSerializer<?>[] serializers = SerializerInternals.fieldSerializers(restored);
        List<Field> present = new ArrayList<>();
        List<TypeSerializer<?>> ofPresent = new ArrayList<>();
        for (int i = 0; i < fields.length; i++) {
            if (fields[i] != null) {
                present.add(fields[i]);
                ofPresent.add(leaveOut(serializers[i]));
            }
        }
        SerializerConfigImpl config = new SerializerConfigImpl();
        for (Class<?> registered : SerializerInternals.registeredSubclasses(restored)) {
            config.registerPojoType(registered);
        }
        return new PojoSerializer<>(
                SerializerInternals.pojoClass(restored),
                ofPresent.toArray(new TypeSerializer<?>[0]),
                present.toArray(new Field[0]),
                config);
    }
}
