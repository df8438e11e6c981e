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

import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
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

    /** The class declared in the job. */
    public static class Shape {
        public int sides;
    }

    /** A subclass that only occurs in values. */
    public static class Circle extends Shape {
        public int radius;
    }
}
