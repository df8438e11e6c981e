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

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java code of all pages compiles as it stands there. */
class JavaSnippetsTest {

    @TempDir Path directory;

    @Test
    void everySnippetCompiles() throws Exception {
        int snippets = 0;
        for (Path page : Documentation.pages()) {
            JavaSnippets found = JavaSnippets.of(Documentation.text(page));
            if (!found.names().isEmpty()) {
                String name = page.getFileName().toString();
                assertThat(found.compile(directory.resolve(name))).as(name).isEmpty();
            }
            snippets += found.names().size();
        }
        assertThat(snippets).isGreaterThan(5);
    }

    @Test
    void wrongSnippetsDoNot() throws Exception {
        JavaSnippets wrong = JavaSnippets.of("```java\nenv.disableChangelog();\n```\n");

        assertThat(wrong.compile(directory))
                .singleElement()
                .asString()
                .contains("disableChangelog");
    }
}
