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

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.typeutils.runtime.PojoSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

/** The calls are reflective, so the test runs with every line of Flink. */
class SerializerInternalsTest {

    @Test
    void pojoSerializer_hasAClassAndFieldsWithSerializers() throws Exception {
        PojoSerializer<Shape> serializer = serializer(new SerializerConfigImpl());

        assertThat(SerializerInternals.pojoClass(serializer)).isEqualTo(Shape.class);
        assertThat(SerializerInternals.fields(serializer))
                .extracting(Field::getName)
                .containsExactly("name", "sides");
        assertThat(SerializerInternals.fieldSerializers(serializer))
                .containsExactly(StringSerializer.INSTANCE, IntSerializer.INSTANCE);
    }

    @Test
    void pojoSerializer_hasTheSubclassesThatAreRegistered() throws Exception {
        SerializerConfigImpl config = new SerializerConfigImpl();
        config.registerPojoType(Circle.class);
        PojoSerializer<Shape> serializer = serializer(config);

        assertThat(SerializerInternals.registeredSubclasses(serializer))
                .containsExactly(Circle.class);
        assertThat(SerializerInternals.registeredSerializers(serializer)).hasSize(1);
        assertThat(SerializerInternals.metSubclasses(serializer)).isEmpty();
    }

    @Test
    void pojoSerializer_hasTheSubclassesThatItHasMet() throws Exception {
        PojoSerializer<Shape> serializer = serializer(new SerializerConfigImpl());
        serializer.serialize(new Circle(), new DataOutputSerializer(64));

        assertThat(SerializerInternals.registeredSubclasses(serializer)).isEmpty();
        assertThat(SerializerInternals.metSubclasses(serializer)).containsOnlyKeys(Circle.class);
    }

    @Test
    void compositeSerializer_hasNestedOnes_thatCanBeReplaced() throws Exception {
        TypeSerializer<List<String>> strings = new ListSerializer<>(StringSerializer.INSTANCE);

        assertThat(SerializerInternals.nested(strings)).containsExactly(StringSerializer.INSTANCE);
        assertThat(
                        (Object)
                                SerializerInternals.withNested(
                                        strings, new TypeSerializer<?>[] {IntSerializer.INSTANCE}))
                .isEqualTo(new ListSerializer<>(IntSerializer.INSTANCE));
    }

    private static PojoSerializer<Shape> serializer(SerializerConfigImpl config) {
        return (PojoSerializer<Shape>) Types.POJO(Shape.class).createSerializer(config);
    }

    /** The class declared in the job. */
    public static class Shape {
        public String name = "";
        public int sides;
    }

    /** A subclass of values. */
    public static class Circle extends Shape {
        public int radius;
    }
}
