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

package dev.dstl.changelog.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;

class ValueWriterTest {

    private final ValueWriter<String> strings = new ValueWriter<>(StringSerializer.INSTANCE);

    @Property(tries = 2_000)
    void anyStrings_haveTheBytesOfTheSerializer(@ForAll("strings") List<String> values)
            throws IOException {
        assertSameBytes(strings, StringSerializer.INSTANCE, values);
    }

    @Provide
    Arbitrary<List<String>> strings() {
        Arbitrary<String> ascii = Arbitraries.strings().ascii().ofMaxLength(140);
        Arbitrary<String> mixed =
                Arbitraries.strings()
                        .withChars('\0', 'a', '\u007F', '\u0080', '\u00FF', '\u0100')
                        .withChars('\u3FFF', '\u4000', '\uD83D', '\uDE00', '\uFFFF')
                        .ofMaxLength(140);
        return Arbitraries.oneOf(ascii, Arbitraries.strings().ofMaxLength(140), mixed)
                .injectNull(0.1)
                .list()
                .ofMaxSize(5);
    }

    @Example
    void stringsAtEachBoundary_haveTheBytesOfTheSerializer() throws IOException {
        for (int length : new int[] {0, 1, 125, 126, 127, 128, 16_384}) {
            for (String character :
                    List.of("a", "\0", "\u007F", "\u0080", "\u00FF", "\u0161", "\u8000")) {
                String allAscii = "x".repeat(length);
                assertSameBytes(
                        strings,
                        StringSerializer.INSTANCE,
                        List.of(
                                character.repeat(length),
                                allAscii + character,
                                character + allAscii,
                                allAscii));
            }
        }
    }

    @Example
    void valuesOfOtherTypes_areLeftToTheSerializer() throws IOException {
        assertSameBytes(
                new ValueWriter<>(LongSerializer.INSTANCE),
                LongSerializer.INSTANCE,
                List.of(1L, Long.MIN_VALUE));
    }

    @Example
    @SuppressWarnings({"unchecked", "rawtypes"}) // as a job does that lies about its types
    void valueThatIsNoString_isRefusedAsByTheSerializer() {
        assertThatThrownBy(() -> ((ValueWriter) strings).write(1L, new DataOutputSerializer(8)))
                .isInstanceOf(ClassCastException.class);
    }

    private static <T> void assertSameBytes(
            ValueWriter<T> writer, TypeSerializer<T> serializer, List<T> values)
            throws IOException {
        DataOutputSerializer expected = new DataOutputSerializer(1);
        DataOutputSerializer written = new DataOutputSerializer(1);
        for (T value : values) {
            serializer.serialize(value, expected);
            writer.write(value, written);
        }
        assertThat(written.getCopyOfBuffer()).isEqualTo(expected.getCopyOfBuffer());
    }
}
