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
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The pages for users, and the parts of them that tests check. */
final class Documentation {

    static final Path ROOT = Paths.get("..");

    private static final Pattern BLOCK =
            Pattern.compile("^```([a-z]+)\\R(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

    private Documentation() {}

    /** The pages beside README and every page below docs/, design notes included. */
    static List<Path> pages() {
        return Stream.of(
                        Stream.of(
                                        "README.md",
                                        "CONTRIBUTING.md",
                                        "CHANGELOG.md",
                                        "SECURITY.md",
                                        "CODE_OF_CONDUCT.md")
                                .map(ROOT::resolve),
                        pagesIn("docs").stream(),
                        designNotes().stream())
                .flatMap(pages -> pages)
                .collect(toList());
    }

    /** The pages below docs/design/. */
    static List<Path> designNotes() {
        return pagesIn("docs/design");
    }

    private static List<Path> pagesIn(String directory) {
        try (Stream<Path> files = Files.list(ROOT.resolve(directory))) {
            return files.filter(file -> file.toString().endsWith(".md")).sorted().collect(toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A page below docs/. */
    static String page(String name) {
        return text(ROOT.resolve("docs").resolve(name));
    }

    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The contents of the code blocks of a page that are marked with {@code language}. */
    static List<String> blocks(String page, String language) {
        List<String> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(page);
        while (matcher.find()) {
            if (matcher.group(1).equals(language)) {
                blocks.add(matcher.group(2));
            }
        }
        return blocks;
    }

    /** Code at the beginning of the first cell, for all table rows that have it. */
    static List<String> rowsAboutCode(String page) {
        List<String> code = new ArrayList<>();
        Matcher matcher = Pattern.compile("^\\| `([^`]+)`", Pattern.MULTILINE).matcher(page);
        while (matcher.find()) {
            code.add(matcher.group(1));
        }
        return code;
    }
}
