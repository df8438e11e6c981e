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

package dev.dstl.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The directory of one run of the demo or the benchmarks, which is named after its process. */
public final class RunDirectory {

    private static final String PREFIX = "run-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "([0-9]+)");

    private RunDirectory() {}

    /**
     * Returns the empty directory of this process. Of processes that were interrupted, state and
     * store are deleted; their logs stay.
     *
     * @throws IOException if it cannot be created, or something cannot be deleted
     */
    public static Path create(Path parent) throws IOException {
        Files.createDirectories(parent);
        for (Path run : directories(parent)) {
            Matcher name = NAME.matcher(run.getFileName().toString());
            if (name.matches() && hasEnded(name.group(1))) {
                for (Path files : directories(run)) {
                    new RunFiles(files).deleteBulk();
                }
            }
        }
        Path own = parent.resolve(PREFIX + ProcessHandle.current().pid());
        RunFiles.delete(own);
        return Files.createDirectories(own);
    }

    private static boolean hasEnded(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).isEmpty();
    }

    private static List<Path> directories(Path parent) throws IOException {
        try (Stream<Path> children = Files.list(parent)) {
            return children.filter(Files::isDirectory).collect(Collectors.toList());
        }
    }
}
