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

package dev.dstl.spillable;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

@AnalyzeClasses(
        packages = "dev.dstl.spillable",
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    /** What each package may use of the others; the first uses none. */
    private static final Map<String, List<String>> ALLOWED = allowed();

    private static final int LARGEST_KNOT = 3;
    private static final int SMALLEST_PACKAGE = 3;

    private static Map<String, List<String>> allowed() {
        Map<String, List<String>> allowed = new LinkedHashMap<>();
        allowed.put("chunk", List.of());
        allowed.put("config", List.of());
        allowed.put("partition", List.of("chunk"));
        allowed.put("overlay", List.of("chunk", "partition"));
        allowed.put("layout", List.of("overlay", "partition"));
        allowed.put("size", List.of());
        allowed.put("table", List.of("layout", "overlay", "partition", "size"));
        allowed.put("state", List.of("layout", "overlay", "table"));
        allowed.put("pressure", List.of("config"));
        allowed.put("spill", List.of("chunk", "config", "overlay", "pressure", "size", "table"));
        allowed.put("snapshot", List.of("table"));
        allowed.put("restore", List.of("layout", "overlay", "spill", "table"));
        allowed.put(
                "incremental",
                List.of("chunk", "overlay", "partition", "restore", "snapshot", "table"));
        return allowed;
    }

    @ArchTest static final ArchRule packagesUseEachOtherAsListed = layers();

    private static ArchRule layers() {
        Architectures.LayeredArchitecture layers =
                layeredArchitecture()
                        .consideringOnlyDependenciesInLayers()
                        .layer("backend")
                        .definedBy("dev.dstl.spillable");
        for (String name : ALLOWED.keySet()) {
            layers = layers.layer(name).definedBy("dev.dstl.spillable." + name);
        }
        for (Map.Entry<String, List<String>> entry : ALLOWED.entrySet()) {
            String[] used = entry.getValue().toArray(new String[0]);
            layers =
                    used.length == 0
                            ? layers.whereLayer(entry.getKey()).mayNotAccessAnyLayer()
                            : layers.whereLayer(entry.getKey()).mayOnlyAccessLayers(used);
        }
        return layers.whereLayer("backend").mayNotBeAccessedByAnyLayer();
    }

    @Test
    void architecturePageShowsThePackages() throws IOException {
        StringBuilder text = new StringBuilder("```text\n");
        ALLOWED.forEach(
                (name, used) ->
                        text.append(("spillable." + name + ": " + String.join("  ", used)).trim())
                                .append("\n"));
        assertThat(Files.readString(Paths.get("..", "docs", "architecture.md")))
                .contains(text.append("```\n"));
    }

    @ArchTest
    static void everyPackageIsListed(JavaClasses classes) {
        Set<String> packages = new TreeSet<>();
        for (JavaClass type : classes) {
            packages.add(type.getPackageName());
        }
        Set<String> listed = new TreeSet<>();
        listed.add("dev.dstl.spillable");
        ALLOWED.keySet().forEach(name -> listed.add("dev.dstl.spillable." + name));
        assertThat(packages).isEqualTo(listed);
    }

    /** Classes each of which needs the others, nested ones counted with the one around them. */
    @ArchTest
    static void knotsOfClassesAreSmall(JavaClasses classes) {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass type : classes) {
            Set<String> used = uses.computeIfAbsent(topLevel(type), name -> new TreeSet<>());
            type.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .map(JavaClass::getBaseComponentType)
                    .filter(target -> target.getPackageName().startsWith("dev.dstl.spillable"))
                    .forEach(target -> used.add(topLevel(target)));
        }
        Map<String, Set<String>> reached = new TreeMap<>();
        uses.keySet().forEach(name -> reached.put(name, reach(name, uses)));
        for (String name : uses.keySet()) {
            List<String> knot =
                    reached.get(name).stream()
                            .filter(other -> reached.get(other).contains(name))
                            .collect(Collectors.toList());
            assertThat(knot).as("knot of " + name).hasSizeLessThanOrEqualTo(LARGEST_KNOT);
        }
    }

    private static Set<String> reach(String from, Map<String, Set<String>> uses) {
        Set<String> reached = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(uses.get(from));
        while (!open.isEmpty()) {
            String next = open.poll();
            if (reached.add(next)) {
                open.addAll(uses.get(next));
            }
        }
        return reached;
    }

    private static String topLevel(JavaClass type) {
        return type.getName().replaceFirst("\\$.*", "");
    }

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("dev.dstl.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule namesSayWhatAClassIs =
            noClasses().should().haveNameMatching(".*(Impl|Helper|Utils?|Manager)$");

    @ArchTest
    static final ArchRule everythingLivesUnderTheProjectRoot =
            classes().should().resideInAPackage("dev.dstl..");

    @Test
    void aFileCanBeReadInOneSitting() throws IOException {
        try (Stream<Path> files = Files.walk(Paths.get("src", "main", "java"))) {
            List<String> tooLong =
                    files.filter(file -> file.toString().endsWith(".java"))
                            .filter(file -> lines(file) > 500)
                            .map(Path::toString)
                            .collect(Collectors.toList());
            assertThat(tooLong).as("files over 500 lines").isEmpty();
        }
    }

    @Test
    void aClassNeedsNoBanners() throws IOException {
        try (Stream<Path> files = Files.walk(Paths.get("src"))) {
            List<String> withBanners =
                    files.filter(file -> file.toString().endsWith(".java"))
                            .filter(file -> hasLineWith(file, "// ---"))
                            .map(Path::toString)
                            .collect(Collectors.toList());
            assertThat(withBanners).as("classes in sections").isEmpty();
        }
    }

    @Test
    void aPackageHasThreeClasses() throws IOException {
        Path root = Paths.get("src", "main", "java", "dev", "dstl", "spillable");
        List<String> small = new ArrayList<>();
        for (String name : ALLOWED.keySet()) {
            try (Stream<Path> files = Files.list(root.resolve(name))) {
                long classes = files.filter(file -> !file.endsWith("package-info.java")).count();
                if (classes < SMALLEST_PACKAGE) {
                    small.add(name);
                }
            }
        }
        assertThat(small).isEmpty();
    }

    private static boolean hasLineWith(Path file, String text) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.anyMatch(line -> line.trim().startsWith(text));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static long lines(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
