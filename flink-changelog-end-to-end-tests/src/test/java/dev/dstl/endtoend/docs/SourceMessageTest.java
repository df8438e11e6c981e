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

package dev.dstl.endtoend.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class SourceMessageTest {

    @Test
    void literalsOverSeveralLinesAreOneMessage() {
        assertThat(SourceMessage.in("LOG.warn(\n\"a store \"\n    + \"is {} at s3://b\", x);"))
                .singleElement()
                .hasToString("a store is \u2026 at s3://b");
    }

    @Test
    void aValueBetweenLiteralsIsAGap() {
        assertThat(SourceMessage.in("throw new X(\"State '\" + name(a, b) + \"' is %,d old\");"))
                .singleElement()
                .hasToString("State '\u2026' is \u2026 old");
    }

    @Test
    void commentsAndCharactersAreNoMessages() {
        assertThat(SourceMessage.in("// \"a\"\n/* \"b\" */ char c = '\"'; f(\"d\", \"e\");"))
                .extracting(SourceMessage::text)
                .containsExactly("d", "e");
    }

    @Test
    void aQuoteMatchesWithItsGapsInOrder() {
        SourceMessage message = SourceMessage.in("f(\"Segment %s, byte %d: expected %s\");").get(0);

        assertThat(message.contains("Segment \u2026, byte \u2026: expected")).isTrue();
        assertThat(message.contains("byte \u2026 Segment")).isFalse();
        assertThat(message.contains("Segments")).isFalse();
    }

    @Test
    void aMessageKnowsTheStatementItBelongsTo() {
        Pattern warning = Pattern.compile("LOG\\.warn\\(\\s*$");

        assertThat(SourceMessage.in("x(); LOG.warn(\n\"a\");").get(0).isIntroducedBy(warning))
                .isTrue();
        assertThat(SourceMessage.in("LOG.warn(x); f(\"a\");").get(0).isIntroducedBy(warning))
                .isFalse();
    }
}
