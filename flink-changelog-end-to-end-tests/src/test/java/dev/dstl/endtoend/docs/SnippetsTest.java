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
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.dstl.log.config.DstlSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;

/** Snippets for users can be parsed, and all their keys and values exist. */
class SnippetsTest {

    private static final Pattern LINK = Pattern.compile("]\\((?!https?:)([^)#]*)(?:#([^)]*))?\\)");

    private static final Pattern QUOTED_KEY =
            Pattern.compile("['\"]((?:state|execution|table)\\.[a-z][-a-z.]+)['\"]");

    private static final Pattern MENTIONED_KEY =
            Pattern.compile(
                    "`((?:state\\.changelog|state\\.backend)\\.[-a-z.]*[a-z.])(?:: [^`]*)?`");

    /** Top-level fields of the custom resources of Flink's Kubernetes operator. */
    private static final Map<String, Set<String>> RESOURCES =
            Map.of(
                    "FlinkDeployment",
                    Set.of(
                            "image",
                            "flinkVersion",
                            "flinkConfiguration",
                            "serviceAccount",
                            "podTemplate",
                            "jobManager",
                            "taskManager",
                            "job"),
                    "FlinkSessionJob",
                    Set.of("deploymentName", "flinkConfiguration", "job"),
                    "FlinkStateSnapshot",
                    Set.of("backoffLimit", "jobReference", "savepoint", "checkpoint"));

    /** Resources without keys of Flink, of Prometheus' operator and of Kubernetes itself. */
    private static final Set<String> WITHOUT_KEYS = Set.of("monitoring.coreos.com/v1", "batch/v1");

    private static final Set<String> JOB =
            Set.of("jarURI", "entryClass", "args", "parallelism", "upgradeMode", "state");

    @Test
    void everyYamlBlockHoldsKeysAndValuesThatExist() throws Exception {
        FlinkKeys keys = new FlinkKeys();
        int settings = 0;
        for (Path page : Documentation.pages()) {
            for (String block : Documentation.blocks(Documentation.text(page), "yaml")) {
                for (Map<String, Object> document : StrictYaml.documents(block)) {
                    Map<String, Object> configuration =
                            document.containsKey("kind") ? resource(document) : document;
                    check(page, keys, configuration);
                    settings += configuration.size();
                }
            }
        }
        assertThat(settings).isGreaterThan(20);
    }

    @Test
    void everyKeyInSqlAndPythonAndJavaExists() throws Exception {
        FlinkKeys keys = new FlinkKeys();
        for (Path page : Documentation.pages()) {
            String text = Documentation.text(page);
            Stream.of("sql", "python", "java")
                    .flatMap(language -> Documentation.blocks(text, language).stream())
                    .flatMap(block -> QUOTED_KEY.matcher(block).results())
                    .map(match -> match.group(1))
                    .forEach(key -> assertThat(keys.isKnown(key)).as("%s: %s", page, key).isTrue());
        }
    }

    @Test
    void everyKeyThatIsMentionedExists() throws Exception {
        FlinkKeys keys = new FlinkKeys();
        List<String> mentioned = new ArrayList<>();
        for (Path page : Documentation.pages()) {
            List<String> found =
                    MENTIONED_KEY
                            .matcher(Documentation.text(page))
                            .results()
                            .map(match -> match.group(1))
                            .collect(toList());
            assertThat(found)
                    .as("%s", page)
                    .allMatch(
                            key -> keys.isKnown(key) || (key.endsWith(".") && keys.isPrefix(key)));
            mentioned.addAll(found);
        }
        assertThat(mentioned).isNotEmpty();
    }

    @Test
    void everyLinkLeadsToAFile() {
        for (Path page : Documentation.pages()) {
            List<Path> targets = links(page).map(link -> target(page, link)).collect(toList());
            assertThat(targets).as("%s", page).allMatch(Files::exists);
        }
    }

    /** On GitHub and on the site of the documentation, which name headings by different rules. */
    @Test
    void everyAnchorOfALinkIsThatOfAHeading() {
        int anchors = 0;
        for (Path page : Documentation.pages()) {
            for (MatchResult link : links(page).collect(toList())) {
                if (link.group(2) != null) {
                    assertThat(Headings.anchors(Documentation.text(target(page, link))))
                            .as("%s: %s", page, link.group())
                            .contains(link.group(2));
                    anchors++;
                }
            }
        }
        assertThat(anchors).isGreaterThan(100);
    }

    @Test
    void anchorsAreThoseThatGitHubAndTheSiteHaveInCommon() {
        String page =
                "# A *page*: `some-key`, and [links](other.md)\n```bash\n# A comment\n```\n"
                        + "## Twice\n## Twice\n## Before - after\n## Größe\n### Snake_case, 1.20 #\n";

        assertThat(Headings.anchors(page))
                .containsExactlyInAnyOrder("a-page-some-key-and-links", "twice", "snake_case-120");
    }

    private static Stream<MatchResult> links(Path page) {
        return LINK.matcher(Documentation.text(page)).results();
    }

    private static Path target(Path page, MatchResult link) {
        return link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
    }

    private static Map<String, Object> resource(Map<String, Object> resource) {
        if (WITHOUT_KEYS.contains(resource.get("apiVersion"))) {
            return Map.of();
        }
        assertThat(resource).containsEntry("apiVersion", "flink.apache.org/v1beta1");
        Map<String, Object> spec = StrictYaml.map(resource.get("spec"));
        assertThat(RESOURCES.get(resource.get("kind"))).containsAll(spec.keySet());
        if (spec.containsKey("job")) {
            assertThat(JOB).containsAll(StrictYaml.map(spec.get("job")).keySet());
        }
        Map<String, Object> configuration =
                StrictYaml.map(spec.getOrDefault("flinkConfiguration", Map.of()));
        assertThat(configuration.values())
                .as("the operator takes strings only")
                .allMatch(String.class::isInstance);
        return configuration;
    }

    static void check(Path page, FlinkKeys keys, Map<String, Object> settings) {
        Configuration configuration = new Configuration();
        settings.forEach((key, value) -> configuration.setString(key, String.valueOf(value)));
        for (String key : settings.keySet()) {
            assertThat(keys.isKnown(key)).as("%s: %s", page, key).isTrue();
            keys.option(key)
                    .ifPresent(
                            option ->
                                    assertThatCode(() -> configuration.get(option))
                                            .as("%s: %s", page, key)
                                            .doesNotThrowAnyException());
        }
        if (settings.containsKey("state.changelog.dstl.dfs.base-path")) {
            assertThatCode(() -> DstlSettings.from(configuration))
                    .as("%s", page)
                    .doesNotThrowAnyException();
        }
    }
}
