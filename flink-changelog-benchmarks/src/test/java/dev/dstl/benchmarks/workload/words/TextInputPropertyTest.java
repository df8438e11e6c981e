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

package dev.dstl.benchmarks.workload.words;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.flink.api.common.functions.util.ListCollector;

class TextInputPropertyTest {

    @Property(tries = 200)
    void everyLine_isReadExactlyOnce_withItsOffset(@ForAll("texts") String text)
            throws IOException {
        Path file = Files.createTempFile("text", ".txt");
        try {
            Files.writeString(file, text);
            List<TextLine> lines = read(new TextInput(file, Files.size(file)));

            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            List<String> expected = new ArrayList<>(Arrays.asList(text.split("\n", -1)));
            if (text.isEmpty() || text.endsWith("\n")) {
                expected.remove(expected.size() - 1);
            }
            assertThat(lines.stream().map(line -> line.text)).containsExactlyElementsOf(expected);
            for (TextLine line : lines) {
                assertThat(line.offset == 0 || bytes[(int) line.offset - 1] == '\n').isTrue();
            }
        } finally {
            Files.delete(file);
        }
    }

    @Property
    void scannedWords_areTheRunsOfLettersAndDigits(@ForAll("texts") String text) {
        List<Word> words = new ArrayList<>();

        new WordScanner().flatMap(new TextLine(7, text), new ListCollector<>(words));

        assertThat(words.stream().map(word -> word.text))
                .containsExactlyElementsOf(
                        Pattern.compile("[\\p{L}\\p{Nd}]+")
                                .matcher(text)
                                .results()
                                .map(match -> match.group().toLowerCase(Locale.ROOT))
                                .collect(Collectors.toList()));
        assertThat(words).allMatch(word -> word.offset == 7);
    }

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.strings()
                .withChars("ab1\n .,")
                .withChars('\u00e4', '\u4e2d', '\u0130', '_', '\r')
                .ofMaxLength(600);
    }

    private static List<TextLine> read(TextInput input) throws IOException {
        List<TextLine> lines = new ArrayList<>();
        for (long stripe = 0; stripe < input.stripeCount(); stripe++) {
            lines.addAll(input.read(stripe));
        }
        return lines;
    }
}
