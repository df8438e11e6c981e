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
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
        List<Path> files;
        try (Stream<Path> all = Files.walk(objects())) {
            files = all.filter(Files::isRegularFile).collect(Collectors.toList());
        }
        long bytes = 0;
        for (Path file : files) {
            bytes += sizeIfThere(file);
        }
        return new long[] {files.size(), bytes};
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

    /** The store continues to delete objects while they are counted. */
    private static long sizeIfThere(Path file) throws IOException {
        try {
            return Files.size(file);
        } catch (NoSuchFileException deleted) {
            return 0;
        }
    }
}
