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

package dev.dstl.log.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Java source files of the module whose tests run. */
public final class SourceFiles {

    private static final Path MAIN = Paths.get("src", "main", "java");
    private static final Path ALL = Paths.get("src");
    private static final int LONGEST = 500;
    private static final String BANNER = "// --";

    private SourceFiles() {}

    /** Main sources of more than 500 lines. */
    public static List<Path> tooLong() throws IOException {
        return matching(MAIN, file -> lines(file).size() > LONGEST);
    }

    /** Sources with comments such as {@code // ---- checkpoints}; tests are included. */
    public static List<Path> withBanners() throws IOException {
        return matching(ALL, file -> lines(file).stream().anyMatch(SourceFiles::isBanner));
    }

    private static boolean isBanner(String line) {
        return line.trim().startsWith(BANNER);
    }

    private static List<Path> matching(Path root, Predicate<Path> condition) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(condition)
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
