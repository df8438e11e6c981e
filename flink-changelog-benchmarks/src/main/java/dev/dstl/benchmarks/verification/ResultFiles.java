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

package dev.dstl.benchmarks.verification;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The committed files of a result directory; uncommitted files are hidden and ignored. */
public final class ResultFiles {

    private final Path directory;

    /** Creates a reader of a directory written by Flink's file sink. */
    public ResultFiles(Path directory) {
        this.directory = directory;
    }

    /** Passes every row of every committed file to {@code reader}. */
    public void forEachRow(Consumer<String> reader) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        List<Path> committed;
        try (Stream<Path> files = Files.walk(directory)) {
            committed =
                    files.filter(Files::isRegularFile)
                            .filter(file -> !file.getFileName().toString().startsWith("."))
                            .sorted()
                            .collect(Collectors.toList());
        }
        for (Path file : committed) {
            try (Stream<String> rows = Files.lines(file, StandardCharsets.UTF_8)) {
                rows.forEach(reader);
            }
        }
    }
}
