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

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PageStyleTest {

    private static final int MAX_WORDS = 59;

    /** A heading, a list, a table, a quotation, a code block or an image. */
    private static final Pattern NO_PROSE =
            Pattern.compile("^(#|[-*+] |[|>!]|```|\\d+\\.).*", Pattern.DOTALL);

    @Test
    void everyPageBeginsWithAShortParagraphOfProse() {
        assertThat(Documentation.pages())
                .hasSizeGreaterThan(15)
                .allSatisfy(
                        page -> {
                            String paragraph = firstParagraph(Documentation.text(page));
                            assertThat(paragraph)
                                    .as("first paragraph of %s", page)
                                    .isNotEmpty()
                                    .doesNotMatch(NO_PROSE);
                            assertThat(paragraph.split("\\s+"))
                                    .as("words of the first paragraph of %s", page)
                                    .hasSizeLessThanOrEqualTo(MAX_WORDS);
                        });
    }

    @Test
    void everyDesignNoteHasTheSameSections() {
        assertThat(Documentation.designNotes())
                .isNotEmpty()
                .allSatisfy(PageStyleTest::assertSectionsOfDesignNote);
    }

    private static void assertSectionsOfDesignNote(Path note) {
        assertThat(
                        Documentation.text(note)
                                .lines()
                                .filter(line -> line.startsWith("## "))
                                .collect(toList()))
                .as("%s", note)
                .containsExactly(
                        "## Context", "## Decision", "## Alternatives measured", "## Consequences");
    }

    private static String firstParagraph(String page) {
        return Stream.of(page.split("\\R\\s*\\R"))
                .map(String::strip)
                .skip(1) // the title
                .findFirst()
                .orElse("");
    }
}
