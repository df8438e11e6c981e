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

package dev.dstl.log.store;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.util.function.SupplierWithException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes empty directories. Object stores have none.
 *
 * <p>A directory is deleted only if the file system itself atomically refuses to delete a directory
 * that is not empty: another process may be creating a file in it. Flink's local file system checks
 * first and then deletes recursively, so local directories are deleted without it. Symbolic links
 * stay.
 */
public final class EmptyDirectories {

    private static final Logger LOG = LoggerFactory.getLogger(EmptyDirectories.class);

    private static final int MAX_BESIDE = 16;
    private static final String LOCAL = "file";
    private static final Set<String> ATOMIC = Set.of("hdfs", "viewfs");

    private EmptyDirectories() {}

    /** Limits the duration of requests. */
    @FunctionalInterface
    public interface TimeLimit {

        /**
         * Makes a request, which fails when its time is over.
         *
         * @param path what the request is about
         */
        <T> T inTime(Path path, SupplierWithException<T, IOException> request) throws IOException;
    }

    /** Returns whether a file system has directories that can be deleted safely. */
    public static boolean canBeDeleted(FileSystem fileSystem) {
        String scheme = fileSystem.getUri().getScheme();
        return LOCAL.equals(scheme) || ATOMIC.contains(scheme);
    }

    private static boolean delete(FileSystem fileSystem, Path directory, TimeLimit limit) {
        String scheme = fileSystem.getUri().getScheme();
        try {
            if (LOCAL.equals(scheme)) {
                File local = new File(directory.toUri().getPath());
                // A link is deleted whatever the directory behind it contains.
                return !Files.isSymbolicLink(local.toPath()) && local.delete();
            }
            return ATOMIC.contains(scheme)
                    && limit.inTime(directory, () -> fileSystem.delete(directory, false));
        } catch (IOException | RuntimeException e) {
            LOG.debug("{} stays", directory, e);
            return false;
        }
    }

    /**
     * Deletes the directory of a writer if it is empty, and then empty parent directories that
     * belong to the job's changelog. Blocks.
     *
     * @param basePath stays, with what is above it; may be the directory of a job or of a writer
     * @return whether the writer's directory is deleted
     */
    public static boolean deleteOfWriter(FileSystem fileSystem, Path directory, Path basePath) {
        String above = basePath.getPath();
        String prefix = above.endsWith(Path.SEPARATOR) ? above : above + Path.SEPARATOR;
        return deleteOfWriter(
                fileSystem,
                directory,
                EmptyDirectories::unlimited,
                empty -> empty.getPath().startsWith(prefix));
    }

    private static <T> T unlimited(Path path, SupplierWithException<T, IOException> request)
            throws IOException {
        return request.get();
    }

    /**
     * Deletes the directory of a writer if it is empty, and then empty parent directories that
     * belong to the job's changelog. Blocks.
     *
     * @param limit of each request
     * @return whether the writer's directory is deleted
     */
    public static boolean deleteOfWriter(FileSystem fileSystem, Path directory, TimeLimit limit) {
        return deleteOfWriter(fileSystem, directory, limit, empty -> true);
    }

    private static boolean deleteOfWriter(
            FileSystem fileSystem, Path directory, TimeLimit limit, Predicate<Path> deletable) {
        Path empty = directory;
        for (int depth = 0; depth < SegmentName.DIRECTORIES; depth++) {
            if (!deletable.test(empty) || !delete(fileSystem, empty, limit)) {
                return depth > 0;
            }
            empty = empty.getParent();
        }
        return true;
    }

    /**
     * Deletes some empty directories of other writers of the same job. They remain because the
     * JobManager deletes the last segments of an ended writer, but no directories. A few
     * directories are tried, chosen at random so that writers that start together try different
     * ones. A live writer recreates its directory. Blocks.
     *
     * @param limit of each request
     */
    public static void deleteSomeBeside(FileSystem fileSystem, Path directory, TimeLimit limit) {
        if (!canBeDeleted(fileSystem)) {
            return;
        }
        List<Path> others = new ArrayList<>();
        try {
            Path parent = directory.getParent();
            FileStatus[] found = limit.inTime(parent, () -> fileSystem.listStatus(parent));
            for (FileStatus status : found == null ? new FileStatus[0] : found) {
                Path other = status.getPath();
                if (status.isDir()
                        && SegmentName.createdEpochMillis(other).isPresent()
                        && !other.getName().equals(directory.getName())) {
                    others.add(other);
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.debug("Directories beside {} stay", directory, e);
        }
        Collections.shuffle(others);
        others.stream().limit(MAX_BESIDE).forEach(other -> delete(fileSystem, other, limit));
    }
}
