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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.EnumSerializer;
import org.apache.flink.api.common.typeutils.base.EnumSerializer.EnumSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer;
import org.junit.jupiter.api.Test;

/** What Flink leaves around the serializer of a map's values when its keys were reconfigured. */
class WrappedSerializerTest {

    private final MapSerializer<Integer, Shape> serializer =
            new MapSerializer<>(
                    IntSerializer.INSTANCE,
                    new TtlAwareSerializer<>(
                            Types.POJO(Shape.class).createSerializer(new SerializerConfigImpl())));

    @Test
    void subclassOfAWrappedPojo_isMore() throws Exception {
        EncounteredSubclasses met = new EncounteredSubclasses(serializer);
        serializer.serialize(Map.of(1, new Circle()), new DataOutputSerializer(64));

        assertThat(met.areMore()).isTrue();
    }

    @Test
    void fieldsAreLeftOut_ofAWrappedPojo() throws Exception {
        assertThat(((MapSerializer<?, ?>) RemovedFields.leaveOut(serializer)).getValueSerializer())
                .isEqualTo(Types.POJO(Shape.class).createSerializer(new SerializerConfigImpl()));
    }

    /**
     * The other order of constants is that of the class, of a subtask that has restored nothing.
     */
    @Test
    void mapWithWrappedValues_isReadInTheOrderOfItsOwnConstants() {
        EnumSerializer<Color> keys = new EnumSerializer<>(Color.class);
        SchemaVersion<Map<Color, Integer>> present =
                SchemaVersion.of(new MapSerializer<>(keys, IntSerializer.INSTANCE));
        SchemaVersion<Map<Color, Integer>> reconfigured =
                SchemaVersion.of(
                        new MapSerializer<>(
                                inOrder(Color.RED, Color.GREEN, Color.BLACK),
                                new TtlAwareSerializer<>(IntSerializer.INSTANCE)));

        SchemaChoice<Map<Color, Integer>> choice = SchemaChoice.between(present, reconfigured);

        assertThat(choice.replacement()).isNull();
        assertThat(present.isSameAs(reconfigured)).isFalse();
    }

    @Test
    void mapWithWrappedValues_isTheSameAsWithoutTheWrapper() {
        TypeSerializer<Shape> values =
                Types.POJO(Shape.class).createSerializer(new SerializerConfigImpl());
        SchemaVersion<?> plain =
                SchemaVersion.of(new MapSerializer<>(IntSerializer.INSTANCE, values));
        SchemaVersion<?> wrapped = SchemaVersion.of(serializer);

        assertThat(plain.isSameAs(wrapped)).isTrue();
        assertThat(plain.hasSameBytesAs(wrapped)).isTrue();
    }

    private static TypeSerializer<Color> inOrder(Color... order) {
        try {
            DataOutputSerializer written = new DataOutputSerializer(64);
            written.writeUTF(Color.class.getName());
            written.writeInt(order.length);
            for (Color color : order) {
                written.writeUTF(color.name());
            }
            EnumSerializerSnapshot<Color> snapshot = new EnumSerializerSnapshot<>();
            snapshot.readSnapshot(
                    3,
                    new DataInputDeserializer(written.getCopyOfBuffer()),
                    Color.class.getClassLoader());
            return snapshot.restoreSerializer();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Keys of a map. */
    enum Color {
        BLACK,
        RED,
        GREEN
    }

    /** The class declared in the job. */
    public static class Shape {
        public int sides;
    }

    /** A subclass that only occurs in values. */
    public static class Circle extends Shape {
        public int radius;
    }
}
