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

package dev.dstl.benchmarks.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Where a run keeps what is its own: logs, results, progress, and by default checkpoints. */
final class RunDirectory {

    private final Path directory;

    RunDirectory(Path directory) {
        this.directory = directory;
    }

    Path path() {
        return directory;
    }

    Path cluster() {
        return directory.resolve("cluster");
    }

    Path results() {
        return directory.resolve("results");
    }

    Path progress() {
        return directory.resolve("progress");
    }

    Path storage() {
        return directory.resolve("storage");
    }

    /** Deletes a directory and everything in it, if it exists. */
    static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        List<Path> deepestFirst;
        try (Stream<Path> all = Files.walk(directory)) {
            deepestFirst = all.sorted(Comparator.reverseOrder()).collect(Collectors.toList());
        }
        for (Path path : deepestFirst) {
            Files.deleteIfExists(path);
        }
    }
}
