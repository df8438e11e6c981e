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

import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class EncounteredSubclassesTest {

    @Test
    void subclassThatIsWritten_isMore_untilItIsKnown() throws Exception {
        TypeSerializer<Shape> serializer = serializer(Types.POJO(Shape.class));
        EncounteredSubclasses met = new EncounteredSubclasses(serializer);
        write(serializer, new Shape());
        assertThat(met.areMore()).as("its own class").isFalse();
        write(serializer, new Circle());
        assertThat(met.areMore()).isTrue();
        met.update();
        assertThat(met.areMore()).isFalse();
        write(serializer, new Circle());
        assertThat(met.areMore()).as("a class that is known").isFalse();
    }

    @Test
    void subclassInAList_isMore() throws Exception {
        TypeSerializer<List<Shape>> serializer = serializer(Types.LIST(Types.POJO(Shape.class)));
        EncounteredSubclasses met = new EncounteredSubclasses(serializer);
        write(serializer, List.of(new Shape(), new Circle()));
        assertThat(met.areMore()).isTrue();
    }

    @Test
    void subclassInAFieldOfASubclass_isMore() throws Exception {
        TypeSerializer<Shape> serializer = serializer(Types.POJO(Shape.class));
        write(serializer, new Frame());
        EncounteredSubclasses met = new EncounteredSubclasses(serializer);
        Frame frame = new Frame();
        frame.border = new Dotted();
        write(serializer, frame);
        assertThat(met.areMore()).isTrue();
    }

    @Test
    void serializerWithoutPojos_neverHasMore() throws Exception {
        EncounteredSubclasses met = new EncounteredSubclasses(StringSerializer.INSTANCE);
        write(StringSerializer.INSTANCE, "a");
        assertThat(met.areMore()).isFalse();
    }

    private static <T> TypeSerializer<T> serializer(TypeInformation<T> type) {
        return type.createSerializer(new SerializerConfigImpl());
    }

    private static <T> void write(TypeSerializer<T> serializer, T value) throws Exception {
        serializer.serialize(value, new DataOutputSerializer(64));
    }

    /** The class declared in the job. */
    public static class Shape {
        public int sides;
    }

    /** A subclass that only occurs in values. */
    public static class Circle extends Shape {
        public int radius;
    }

    /** The same, with a POJO as a field. */
    public static class Frame extends Shape {
        public Border border = new Border();
    }

    /** A POJO that has a subclass as well. */
    public static class Border {
        public int width;
    }

    /** A subclass that only occurs in values. */
    public static class Dotted extends Border {
        public int distance;
    }
}
