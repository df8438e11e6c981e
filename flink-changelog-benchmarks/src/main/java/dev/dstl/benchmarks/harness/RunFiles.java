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

import dev.dstl.benchmarks.simulated.StoreDirectory;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.annotation.Nullable;

/**
 * What one run writes.
 *
 * <pre>
 *  &lt;directory&gt;/cluster/...     configuration, logs, working state
 *             /progress/...    how far the tasks are
 *             /results/...     the rows of the job
 *             /store/run/...   the simulated object store, sim://run/
 * </pre>
 */
public final class RunFiles {

    private static final String AUTHORITY = "run";
    private static final String METADATA = "_metadata";

    private final Path directory;

    /** Creates the files of a run below a directory, which need not exist. */
    public RunFiles(Path directory) {
        this.directory = directory;
    }

    /** Returns the directory of all files. */
    public Path directory() {
        return directory;
    }

    /** Returns the directory of logs, configuration and temporary files of the processes. */
    public Path cluster() {
        return directory.resolve("cluster");
    }

    /** Returns the directory in which tasks report their progress. */
    public Path progress() {
        return directory.resolve("progress");
    }

    /** Returns the directory of the job's result rows. */
    public Path results() {
        return directory.resolve("results");
    }

    /** Returns the file that releases the last phase of the input. */
    public Path release() {
        return directory.resolve("release");
    }

    /** Returns the value of {@code sim.directory}. */
    public Path storeRoot() {
        return directory.resolve("store");
    }

    /** Returns the store, for its request counters. */
    public StoreDirectory store() {
        return new StoreDirectory(storeRoot(), AUTHORITY);
    }

    /** Returns the URI of the store for Flink's processes. */
    public String storeUri() {
        return "sim://" + AUTHORITY;
    }

    /** Returns number and total bytes of all readable objects. */
    public long[] storedObjectsAndBytes() throws IOException {
        long[] objectsAndBytes = new long[2];
        Files.walkFileTree(
                objects(),
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        objectsAndBytes[0]++;
                        objectsAndBytes[1] += attributes.size();
                        return FileVisitResult.CONTINUE;
                    }

                    /** The store continues to delete objects while they are counted. */
                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException failure)
                            throws IOException {
                        return continueIfGone(failure);
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(
                            Path directory, @Nullable IOException failure) throws IOException {
                        return continueIfGone(failure);
                    }
                });
        return objectsAndBytes;
    }

    private static FileVisitResult continueIfGone(@Nullable IOException failure)
            throws IOException {
        if (failure == null || failure instanceof NoSuchFileException) {
            return FileVisitResult.CONTINUE;
        }
        throw failure;
    }

    /** Returns the local file that contains the metadata of a checkpoint. */
    public Path metadata(String checkpointUri) {
        return objects()
                .resolve(checkpointUri.substring(storeUri().length() + 1))
                .resolve(METADATA);
    }

    /** Deletes state and store, but not configuration and logs. */
    public void deleteBulk() throws IOException {
        delete(storeRoot());
        delete(cluster().resolve("tmp"));
    }

    /** Deletes a directory recursively, if it exists. */
    public static void delete(Path directory) throws IOException {
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

    private Path objects() {
        return storeRoot().resolve(AUTHORITY).resolve("objects");
    }
}
