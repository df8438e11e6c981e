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

package dev.dstl.endtoend.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The checkpoints and savepoints of a round. Their metadata is searched for names of files without
 * any class of DSTL or Flink.
 */
final class CheckpointFiles {

    private static final String METADATA = "_metadata";

    /** Time for deletions by the JobManager after the end of the job. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final List<Path> directories;
    private final List<Path> excluded;

    /**
     * @param directories all directories of checkpoints and savepoints; need not exist
     */
    CheckpointFiles(List<Path> directories) {
        this(directories, List.of());
    }

    private CheckpointFiles(List<Path> directories, List<Path> excluded) {
        this.directories = List.copyOf(directories);
        this.excluded = List.copyOf(excluded);
    }

    /** Returns the same without what is below some directories. */
    CheckpointFiles without(List<Path> some) {
        return new CheckpointFiles(directories, some);
    }

    List<Path> directories() {
        return directories;
    }

    /** Returns all names of a form in the metadata. */
    Set<String> named(Pattern form) throws IOException {
        Set<String> named = new TreeSet<>();
        for (String metadata : metadata(files())) {
            Matcher name = form.matcher(metadata);
            while (name.find()) {
                named.add(name.group());
            }
        }
        return named;
    }

    /**
     * Waits until each file is named by the metadata of a checkpoint or savepoint.
     *
     * @param known files that may be left over
     * @param sinceMillis files written before are not looked at, in milliseconds since the epoch
     */
    void verifyNothingUnnamed(Set<Path> known, long sinceMillis) {
        await().atMost(PATIENCE)
                .pollInSameThread()
                .untilAsserted(
                        () ->
                                assertThat(known)
                                        .as("files that no checkpoint may name")
                                        .containsAll(unnamed(sinceMillis)));
    }

    /** Returns the files in {@code shared} and {@code taskowned} that no metadata names. */
    Set<Path> unnamedStateFiles() throws IOException {
        return unnamed(0).stream()
                .filter(
                        file ->
                                contains(file, Path.of("shared"))
                                        || contains(file, Path.of("taskowned")))
                .collect(Collectors.toSet());
    }

    private static boolean contains(Path file, Path name) {
        return StreamSupport.stream(file.spliterator(), false).anyMatch(name::equals);
    }

    private List<Path> unnamed(long sinceMillis) throws IOException {
        List<Path> files = files();
        List<String> metadata = metadata(files);
        return files.stream()
                .filter(file -> !file.endsWith(METADATA))
                .filter(file -> isWrittenSince(sinceMillis, file))
                .filter(file -> metadata.stream().noneMatch(in(file.getFileName().toString())))
                .collect(Collectors.toList());
    }

    private static Predicate<String> in(String name) {
        return metadata -> metadata.contains(name);
    }

    private List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path directory : directories) {
            files.addAll(filesBelow(directory));
        }
        files.removeIf(file -> excluded.stream().anyMatch(file::startsWith));
        return files;
    }

    private static List<String> metadata(List<Path> files) throws IOException {
        List<String> all = new ArrayList<>();
        for (Path file : files) {
            if (file.endsWith(METADATA)) {
                try {
                    all.add(Files.readString(file, StandardCharsets.ISO_8859_1));
                } catch (NoSuchFileException deletedMeanwhile) {
                    // Nothing is named by it any more.
                }
            }
        }
        return all;
    }

    /** Returns all files below a directory that may not exist, and whose files may vanish. */
    static List<Path> filesBelow(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(Files::isRegularFile).collect(Collectors.toList());
        } catch (UncheckedIOException e) {
            return filesBelow(directory);
        }
    }

    /**
     * Returns the files below a directory that were written since a time.
     *
     * @param sinceMillis in milliseconds since the epoch, inclusive
     */
    static Set<Path> writtenBelow(Path directory, long sinceMillis) throws IOException {
        return filesBelow(directory).stream()
                .filter(file -> isWrittenSince(sinceMillis, file))
                .collect(Collectors.toSet());
    }

    /** Returns false for a file that has gone meanwhile. */
    static boolean isWrittenSince(long millis, Path file) {
        return file.toFile().lastModified() >= Math.max(1, millis);
    }
}
