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
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The configuration of the documentation site. bin/docs finds the rest with a strict build. */
class SiteTest {

    @Test
    void everyPageIsInTheNavigationOnce() {
        List<String> pages =
                Documentation.pages().stream()
                        .map(page -> Documentation.ROOT.relativize(page).toString())
                        .collect(toList());

        assertThat(StrictYaml.strings(site().get("nav")))
                .containsExactlyInAnyOrderElementsOf(pages);
    }

    @Test
    void noTwoTitlesInTheNavigationAreTheSame() {
        assertThat(titles(site().get("nav")).collect(toList())).doesNotHaveDuplicates();
    }

    /** Titles of sections and pages. */
    private static Stream<String> titles(Object navigation) {
        return StrictYaml.maps(navigation).stream()
                .flatMap(entries -> entries.entrySet().stream())
                .flatMap(
                        entry ->
                                Stream.concat(
                                        Stream.of(entry.getKey()),
                                        entry.getValue() instanceof List
                                                ? titles(entry.getValue())
                                                : Stream.empty()));
    }

    @Test
    void aBrokenLinkFailsTheBuild() {
        assertThat(site()).containsEntry("strict", true);
        Map<String, Object> links =
                StrictYaml.map(StrictYaml.map(site().get("validation")).get("links"));
        assertThat(links).containsEntry("not_found", "warn").containsEntry("anchors", "warn");
    }

    /** Else an edit is not seen before bin/docs runs again. */
    @Test
    void pagesAreLinked_notCopied() {
        assertThat(Documentation.text(Documentation.ROOT.resolve("bin/docs")))
                .contains("ln -s ")
                .doesNotContain("cp -r");
    }

    @Test
    void thereIsALightAndADarkScheme() {
        assertThat(StrictYaml.maps(StrictYaml.map(site().get("theme")).get("palette")))
                .extracting(palette -> palette.get("scheme"))
                .containsExactly("default", "slate");
    }

    @Test
    void everyRequirementHasOneVersion() {
        assertThat(Documentation.page("requirements.txt").lines())
                .filteredOn(line -> !line.startsWith("#"))
                .hasSizeGreaterThan(5)
                .allSatisfy(line -> assertThat(line).matches("[\\w.-]+==[\\w.]+"));
    }

    private static Map<String, Object> site() {
        return StrictYaml.document(Documentation.text(Documentation.ROOT.resolve("mkdocs.yml")));
    }
}
