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

package dev.dstl.benchmarks.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;

/**
 * Writes the {@code config.yaml} of one process. Readable by its owner only, since it may contain
 * credentials.
 */
final class ConfigurationDirectory {

    private ConfigurationDirectory() {}

    static void write(Path directory, Configuration configuration) throws IOException {
        Files.createDirectories(directory);
        Path file = directory.resolve("config.yaml");
        Files.deleteIfExists(file);
        if (Files.getFileStore(directory).supportsFileAttributeView("posix")) {
            Files.createFile(
                    file,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rw-------")));
        }
        List<String> lines =
                new TreeMap<>(configuration.toMap())
                        .entrySet().stream()
                                .map(entry -> entry.getKey() + ": " + quoted(entry.getValue()))
                                .collect(Collectors.toList());
        Files.write(file, lines);
    }

    private static String quoted(String value) {
        return "'" + value.replace("'", "''") + "'";
    }
}
