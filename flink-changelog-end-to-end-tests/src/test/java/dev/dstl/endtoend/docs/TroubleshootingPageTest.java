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

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class TroubleshootingPageTest {

    private static final String PAGE = "troubleshooting.md";

    /** Warnings, errors, and exceptions that end a job. */
    private static final Pattern COMPLAINT =
            Pattern.compile(
                    "LOG\\s*\\.(warn|error)\\(\\s*$"
                            + "|new (Misconfiguration|IllegalConfiguration)Exception\\("
                            + "[^)\"]*(String\\.format\\(\\s*)?$");

    private static final int SHORTEST_SENTENCE = 25;

    @Test
    void everyMessageThatThePageQuotesIsInTheSources() {
        List<SourceMessage> messages = SourceTree.messages();

        assertThat(Documentation.rowsAboutCode(Documentation.page(PAGE)))
                .hasSizeGreaterThan(40)
                .allSatisfy(
                        quote ->
                                assertThat(messages)
                                        .as("no message in the sources contains: %s", quote)
                                        .anyMatch(message -> message.contains(quote)));
    }

    @Test
    void everyMessageThatTheQuickstartQuotesIsInTheSources() {
        List<SourceMessage> messages = SourceTree.messages();

        assertThat(Documentation.rowsAboutCode(Documentation.page("quickstart.md")))
                .isNotEmpty()
                .allSatisfy(
                        quote ->
                                assertThat(messages)
                                        .as("no message in the sources contains: %s", quote)
                                        .anyMatch(message -> message.contains(quote)));
    }

    @Test
    void thePageExplainsEveryComplaint() {
        List<String> quotes = Documentation.rowsAboutCode(Documentation.page(PAGE));
        List<SourceMessage> complaints =
                SourceTree.messages().stream()
                        .filter(message -> message.isIntroducedBy(COMPLAINT))
                        .filter(message -> message.text().length() >= SHORTEST_SENTENCE)
                        .collect(toList());

        assertThat(complaints)
                .hasSizeGreaterThan(25)
                .allSatisfy(
                        complaint ->
                                assertThat(quotes)
                                        .as("docs/%s explains: %s", PAGE, complaint)
                                        .anyMatch(complaint::contains));
    }
}
