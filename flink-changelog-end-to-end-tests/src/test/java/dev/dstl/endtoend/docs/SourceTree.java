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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The main sources of what users install. */
final class SourceTree {

    private static final List<String> MODULES =
            List.of(
                    "flink-dstl-dfs",
                    "flink-statebackend-changelog",
                    "flink-statebackend-heap-spillable",
                    "dstl-tool");

    private SourceTree() {}

    static List<Path> files() {
        return MODULES.stream()
                .map(module -> Documentation.ROOT.resolve(module).resolve("src/main/java"))
                .flatMap(SourceTree::filesBelow)
                .collect(toList());
    }

    private static Stream<Path> filesBelow(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files
                    .filter(file -> file.toString().endsWith(".java"))
                    .collect(toList())
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<SourceMessage> messages() {
        return files().stream()
                .flatMap(file -> SourceMessage.in(Documentation.text(file)).stream())
                .collect(toList());
    }

    /** Names of files whose code, comments left out, contains {@code pattern}. */
    static List<String> filesWith(Pattern pattern) {
        List<String> found = new ArrayList<>();
        for (Path file : files()) {
            if (pattern.matcher(SourceMessage.codeOf(Documentation.text(file))).find()) {
                found.add(file.getFileName().toString());
            }
        }
        return found;
    }
}
