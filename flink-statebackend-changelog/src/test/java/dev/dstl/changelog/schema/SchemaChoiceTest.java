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
import org.apache.flink.api.common.typeutils.base.EnumSerializer.EnumSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class SchemaChoiceTest {

    private static final int SNAPSHOT_VERSION = 3;

    /** Gained BLACK before the others, so its serializers have one of two orders. */
    enum Color {
        BLACK,
        RED,
        GREEN
    }

    private final SchemaVersion<Color> asInTheClass = version(Color.BLACK, Color.RED, Color.GREEN);
    private final SchemaVersion<Color> reconfigured = version(Color.RED, Color.GREEN, Color.BLACK);

    /** Flink says that any serializer reads the order of the class, whatever its own one is. */
    @Test
    void enumInTheOrderOfItsClass_isNotReadInAnotherOrder() {
        SchemaChoice<Color> choice = SchemaChoice.between(asInTheClass, reconfigured);

        assertThat(choice.replacement()).isNull();
        assertThat(SchemaChoice.keeps(asInTheClass.present(), reconfigured.present(), Color.BLACK))
                .isTrue();
    }

    @Test
    void enumInAnOlderOrder_keepsItsOrder_asTheStateBackendReconfiguresTheSerializer() {
        SchemaChoice<Color> choice = SchemaChoice.between(reconfigured, asInTheClass);

        assertThat(choice.replacement()).isNotNull();
        assertThat(reconfigured.to(choice.replacement()).kind())
                .isEqualTo(Transition.Kind.RECONFIGURED);
    }

    @Test
    void enumInTheSameOrder_staysAsItIs() {
        assertThat(SchemaChoice.between(reconfigured, version(Color.RED, Color.GREEN, Color.BLACK)))
                .extracting(SchemaChoice::replacement)
                .isNull();
    }

    private static SchemaVersion<Color> version(Color... order) {
        try {
            DataOutputSerializer written = new DataOutputSerializer(64);
            written.writeUTF(Color.class.getName());
            written.writeInt(order.length);
            for (Color color : order) {
                written.writeUTF(color.name());
            }
            EnumSerializerSnapshot<Color> snapshot = new EnumSerializerSnapshot<>();
            snapshot.readSnapshot(
                    SNAPSHOT_VERSION,
                    new DataInputDeserializer(written.getCopyOfBuffer()),
                    Color.class.getClassLoader());
            return SchemaVersion.of(snapshot);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
