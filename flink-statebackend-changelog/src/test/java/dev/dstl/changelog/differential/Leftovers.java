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

package dev.dstl.changelog.differential;

import dev.dstl.changelog.differential.world.Violation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A finished job leaves no files but those of its user. */
final class Leftovers {

    private static final long PATIENCE_NANOS =
            TimeUnit.SECONDS.toNanos(Long.getLong("differential.patience", 20));

    private Leftovers() {}

    /** Checks the files; waits for a while, since they are deleted in the background. */
    static void check(Path directory, Set<Path> users) throws Exception {
        long start = System.nanoTime();
        Set<Path> left = left(directory, users);
        while (!left.isEmpty() && System.nanoTime() - start < PATIENCE_NANOS) {
            Thread.sleep(2);
            left = left(directory, users);
        }
        if (!left.isEmpty()) {
            throw new Violation("Files are left: " + left);
        }
    }

    private static Set<Path> left(Path directory, Set<Path> users) throws IOException {
        Set<Path> left = new TreeSet<>();
        for (String name : List.of("log", "checkpoints", "savepoints")) {
            Path root = directory.resolve(name);
            if (Files.exists(root)) {
                left.addAll(files(root));
            }
        }
        left.removeAll(users);
        return left;
    }

    /** Lists files, which may be deleted meanwhile. */
    private static List<Path> files(Path root) throws IOException {
        List<Path> files = new ArrayList<>();
        List<Path> directories = new ArrayList<>(List.of(root));
        while (!directories.isEmpty()) {
            try (Stream<Path> entries = Files.list(directories.remove(directories.size() - 1))) {
                entries.forEach(
                        entry -> (Files.isDirectory(entry) ? directories : files).add(entry));
            } catch (java.nio.file.NoSuchFileException deletedMeanwhile) {
                continue;
            }
        }
        return files;
    }
}
