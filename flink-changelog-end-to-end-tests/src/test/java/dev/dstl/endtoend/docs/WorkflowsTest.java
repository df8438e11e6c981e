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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Workflows and templates refer to existing things, and every job has limits. */
class WorkflowsTest {

    private static final Path GITHUB = Documentation.ROOT.resolve(".github");

    private static final Pattern SPACE = Pattern.compile("\\s+");
    private static final Pattern COMMA = Pattern.compile(",");
    private static final Pattern SCRIPT = Pattern.compile("(?:\\./|bin/|\\.ci/)[-\\w./]+");
    private static final Pattern PROFILE = Pattern.compile("-P(\\S+)");
    private static final Pattern PROPERTY = Pattern.compile("-D([-\\w.]+?)(?:=.*)?");
    private static final Pattern KIND_OF_TEST = Pattern.compile("\\bbin/test (\\w+)");
    private static final Pattern ACTION = Pattern.compile("[-\\w]+/[-\\w]+@v\\d+");

    /** Properties that plugins read from the command line and no POM mentions. */
    private static final Set<String> OF_PLUGINS = Set.of("jvm", "skipTests", "test", "it.test");

    private static final Set<String> FORM_FIELDS =
            Set.of("markdown", "input", "textarea", "dropdown", "checkboxes");

    @Test
    void everyWorkflowHasFewPermissionsAndEveryJobALimit() throws IOException {
        for (Path file : workflows()) {
            Map<String, Object> workflow = read(file);
            // YAML 1.1 takes "on" for a boolean.
            assertThat(workflow.toString()).as("%s", file).containsAnyOf("on={", "true={");
            assertThat(workflow).as("%s", file).containsKeys("name", "jobs");
            assertThat(StrictYaml.map(workflow.get("permissions")))
                    .as("permissions of %s", file)
                    .containsEntry("contents", "read");
            for (Object job : StrictYaml.map(workflow.get("jobs")).values()) {
                assertThat(StrictYaml.map(job))
                        .as("%s", file)
                        .containsKeys("runs-on", "timeout-minutes", "steps");
            }
        }
    }

    @Test
    void everyActionHasAVersion() throws IOException {
        for (Path file : workflows()) {
            assertThat(
                            steps(file)
                                    .filter(step -> step.containsKey("uses"))
                                    .map(step -> (String) step.get("uses")))
                    .as("%s", file)
                    .isNotEmpty()
                    .allSatisfy(action -> assertThat(action).matches(ACTION));
        }
    }

    @Test
    void everyCommandThatIsCalledExists() throws IOException {
        String kinds = Documentation.text(Documentation.ROOT.resolve("bin/test"));
        for (Path file : workflows()) {
            List<String> commands = commands(file);
            assertThat(commands).as("%s", file).isNotEmpty();
            for (String command : commands) {
                Matcher kind = KIND_OF_TEST.matcher(command);
                while (kind.find()) {
                    assertThat(kinds).as("%s: %s", file, command).contains("\n  " + kind.group(1));
                }
                SPACE.splitAsStream(command).forEach(word -> check(file, word));
            }
        }
    }

    private static void check(Path file, String word) {
        if (SCRIPT.matcher(word).matches()) {
            assertThat(Documentation.ROOT.resolve(word)).as("%s", file).isExecutable();
        }
        Matcher profile = PROFILE.matcher(word);
        if (profile.matches()) {
            assertThat(Poms.profiles()).as("%s", file).contains(COMMA.split(profile.group(1)));
        }
        Matcher property = PROPERTY.matcher(word);
        if (property.matches() && !OF_PLUGINS.contains(property.group(1))) {
            assertThat(Poms.mention(property.group(1))).as("%s: %s", file, word).isTrue();
        }
    }

    @Test
    void theMatrixHasThePatchThatIsCompiledAgainstAndTheOldestJava() throws IOException {
        Map<String, Object> jobs = StrictYaml.map(read(workflow("matrix.yml")).get("jobs"));
        Map<String, Object> strategy =
                StrictYaml.map(StrictYaml.map(jobs.get("verify")).get("strategy"));
        Map<String, Object> matrix = StrictYaml.map(strategy.get("matrix"));

        assertThat(StrictYaml.strings(matrix.get("flink")).collect(toList()))
                .doesNotHaveDuplicates()
                .contains(Poms.property("flink.version"));
        assertThat(StrictYaml.strings(matrix.get("java")).collect(toList()))
                .doesNotHaveDuplicates()
                .contains(Poms.property("maven.compiler.release"));
    }

    @Test
    void aPatchOfFlink120IsTriedWithoutTheModulesOfFlink2() {
        List<String> commands = commands(workflow("matrix.yml"));
        assertThat(commands)
                .filteredOn(command -> command.contains("-Dflink.version="))
                .isNotEmpty()
                .allSatisfy(
                        command ->
                                assertThat(Poms.modules())
                                        .filteredOn(module -> module.startsWith("compat"))
                                        .filteredOn(module -> !module.equals("compat/flink-1.20"))
                                        .hasSizeGreaterThan(6)
                                        .allSatisfy(
                                                module ->
                                                        assertThat(command)
                                                                .containsPattern(
                                                                        "!"
                                                                                + Pattern.quote(
                                                                                        module)
                                                                                + "[,']")));
    }

    @Test
    void issueFormsHaveFieldsThatCanBeFilledIn() throws IOException {
        for (String name : List.of("problem.yml", "proposal.yml")) {
            Map<String, Object> form = read(GITHUB.resolve("ISSUE_TEMPLATE").resolve(name));
            assertThat(form).as(name).containsKeys("name", "description", "body");
            List<Map<String, Object>> body = StrictYaml.maps(form.get("body"));
            assertThat(body)
                    .extracting(field -> field.get("type"))
                    .as(name)
                    .isSubsetOf(FORM_FIELDS);
            assertThat(body)
                    .filteredOn(field -> !"markdown".equals(field.get("type")))
                    .as(name)
                    .extracting(field -> field.get("id"))
                    .doesNotContainNull()
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void everyFileOfGitHubParses() throws IOException {
        try (Stream<Path> files = Files.walk(GITHUB)) {
            assertThat(files.filter(file -> file.toString().endsWith(".yml")).collect(toList()))
                    .hasSizeGreaterThan(5)
                    .allSatisfy(file -> assertThat(read(file)).isNotEmpty());
        }
    }

    @Test
    void dependenciesOfEveryKindAreUpdated() {
        List<Map<String, Object>> updates =
                StrictYaml.maps(read(GITHUB.resolve("dependabot.yml")).get("updates"));

        assertThat(updates)
                .extracting(update -> update.get("package-ecosystem"))
                .contains("maven", "github-actions");
        assertThat(updates)
                .extracting(update -> (String) update.get("directory"))
                .allSatisfy(
                        directory ->
                                assertThat(Documentation.ROOT.resolve(directory.substring(1)))
                                        .isDirectory());
    }

    private static Path workflow(String name) {
        return GITHUB.resolve("workflows").resolve(name);
    }

    private static List<Path> workflows() throws IOException {
        try (Stream<Path> files = Files.list(GITHUB.resolve("workflows"))) {
            return files.sorted().collect(toList());
        }
    }

    private static Map<String, Object> read(Path file) {
        return StrictYaml.document(Documentation.text(file));
    }

    private static Stream<Map<String, Object>> steps(Path workflow) {
        return StrictYaml.map(read(workflow).get("jobs")).values().stream()
                .flatMap(job -> StrictYaml.maps(StrictYaml.map(job).get("steps")).stream());
    }

    /** Commands of the steps and of the matrices. */
    private static List<String> commands(Path workflow) {
        Stream<String> run =
                steps(workflow)
                        .filter(step -> step.containsKey("run"))
                        .map(step -> (String) step.get("run"));
        Stream<String> inMatrices =
                Documentation.text(workflow)
                        .lines()
                        .filter(line -> line.strip().startsWith("command: "))
                        .map(line -> line.strip().substring("command: ".length()));
        return Stream.concat(run, inMatrices)
                .flatMap(String::lines)
                .filter(line -> !line.isBlank())
                .collect(toList());
    }
}
