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

import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;

/** Maven dependencies on pages are artifacts that the build publishes or uses, in its versions. */
class MavenSnippetsTest {

    @Test
    void everyDependencyIsOneOfTheBuild() throws Exception {
        List<String> pages = new ArrayList<>();
        for (Path page : Documentation.pages()) {
            for (String block : Documentation.blocks(Documentation.text(page), "xml")) {
                check(page, dependency(block));
                pages.add(page.getFileName().toString());
            }
        }
        assertThat(pages).contains("job-authors.md", "managed-services.md", "quickstart.md");
    }

    private static void check(Path page, Map<String, String> dependency) {
        String artifact = dependency.get("artifactId");
        assertThat(dependency.keySet())
                .as("%s: %s", page, artifact)
                .contains("groupId", "artifactId", "version")
                .isSubsetOf("groupId", "artifactId", "version", "scope");
        assertThat(dependency.getOrDefault("scope", "compile"))
                .as("%s: %s", page, artifact)
                .isIn("compile", "provided", "test");
        if (dependency.get("groupId").equals("dev.dstl")) {
            assertThat(Poms.publishedArtifacts()).as("%s", page).contains(artifact);
            assertThat(dependency.get("version")).as("%s", page).isEqualTo(Poms.version());
        } else {
            assertThat(Poms.managedVersion(dependency.get("groupId"), artifact))
                    .as("%s: %s", page, artifact)
                    .contains(dependency.get("version"));
        }
    }

    private static Map<String, String> dependency(String xml) throws Exception {
        Element root =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(new InputSource(new StringReader(xml)))
                        .getDocumentElement();
        assertThat(root.getTagName()).isEqualTo("dependency");
        Map<String, String> values = new TreeMap<>();
        for (Node node = root.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element) {
                assertThat(values.put(((Element) node).getTagName(), node.getTextContent()))
                        .isNull();
            }
        }
        return values;
    }
}
