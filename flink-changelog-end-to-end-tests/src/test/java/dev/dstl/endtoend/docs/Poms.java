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

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Content of the POMs of all modules. */
final class Poms {

    private static final Pattern PROFILE =
            Pattern.compile("<profile>\\s*(?:<!--.*?-->\\s*)?<id>([^<]+)</id>", Pattern.DOTALL);

    private static final Pattern ARTIFACT =
            Pattern.compile("</parent>\\s*<artifactId>([^<]+)</artifactId>");

    private static final String NOT_PUBLISHED = "<maven.deploy.skip>true</maven.deploy.skip>";

    private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}]+)}");

    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

    private Poms() {}

    /** Directories of the modules, and of their modules. */
    static List<String> modules() {
        return modulesOf("").distinct().collect(toList());
    }

    private static Stream<String> modulesOf(String parent) {
        return MODULE.matcher(text(Documentation.ROOT.resolve(parent)))
                .results()
                .map(match -> parent + match.group(1))
                .flatMap(module -> Stream.concat(Stream.of(module), modulesOf(module + "/")));
    }

    static Set<String> profiles() {
        return PROFILE.matcher(all()).results().map(match -> match.group(1)).collect(toSet());
    }

    /** The version of all modules. */
    static String version() {
        return property("version");
    }

    /** The value of a property of the parent. */
    static String property(String name) {
        Matcher matcher =
                Pattern.compile("<" + Pattern.quote(name) + ">([^<]*)<")
                        .matcher(text(Documentation.ROOT));
        if (!matcher.find()) {
            throw new IllegalArgumentException("pom.xml has no property " + name);
        }
        return matcher.group(1);
    }

    /** Artifact ids of the modules that a release publishes. */
    static Set<String> publishedArtifacts() {
        return modules().stream()
                .map(module -> text(Documentation.ROOT.resolve(module)))
                .filter(pom -> !pom.contains(NOT_PUBLISHED))
                .map(Poms::artifact)
                .collect(toSet());
    }

    private static String artifact(String pom) {
        Matcher matcher = ARTIFACT.matcher(pom);
        if (!matcher.find()) {
            throw new IllegalArgumentException(
                    "There is no artifact id after the parent in " + pom);
        }
        return matcher.group(1);
    }

    /** The version that the parent selects for a dependency, if it does. */
    static Optional<String> managedVersion(String group, String artifact) {
        Matcher matcher =
                Pattern.compile(
                                "<groupId>"
                                        + Pattern.quote(group)
                                        + "</groupId>\\s*<artifactId>"
                                        + Pattern.quote(artifact)
                                        + "</artifactId>\\s*<version>([^<]+)</version>")
                        .matcher(text(Documentation.ROOT));
        return matcher.find()
                ? Optional.of(
                        REFERENCE
                                .matcher(matcher.group(1))
                                .replaceAll(reference -> property(reference.group(1))))
                : Optional.empty();
    }

    /** Whether a POM defines or reads the property {@code name}. */
    static boolean mention(String name) {
        String all = all();
        return all.contains("<" + name + ">") || all.contains("${" + name + "}");
    }

    private static String all() {
        return Stream.concat(
                        Stream.of(Documentation.ROOT),
                        modules().stream().map(Documentation.ROOT::resolve))
                .map(Poms::text)
                .collect(joining("\n"));
    }

    private static String text(Path directory) {
        try {
            return Files.readString(directory.resolve("pom.xml"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
