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

package dev.dstl.tool.files;

import dev.dstl.tool.output.ToolException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** Walks directory trees, which a running job may change meanwhile. */
public final class Directories {

    private static final Pattern JOB_ID = Pattern.compile("[0-9a-f]{32}");
    private static final int ATTEMPTS = 5;

    private Directories() {}

    /** Returns whether a directory has the name of a job's directory. */
    public static boolean isOfJob(Path directory) {
        return JOB_ID.matcher(directory.getName()).matches();
    }

    /**
     * Passes every file below a directory to a consumer.
     *
     * @param descend called with a directory and its subdirectory; returns whether to walk the
     *     subdirectory
     * @param files receives the files
     * @throws ToolException if a directory cannot be listed; directories that no longer exist are
     *     skipped
     */
    public static void walk(
            FileAccess root, BiPredicate<Path, Path> descend, Consumer<FileStatus> files)
            throws ToolException {
        Deque<Path> waiting = new ArrayDeque<>();
        waiting.add(root.path());
        while (!waiting.isEmpty()) {
            Path directory = waiting.poll();
            for (FileStatus status : list(root, directory)) {
                if (!status.isDir()) {
                    files.accept(status);
                } else if (descend.test(directory, status.getPath())) {
                    waiting.add(status.getPath());
                }
            }
        }
    }

    private static FileStatus[] list(FileAccess access, Path directory) throws ToolException {
        FileSystem fileSystem = access.fileSystem();
        Optional<FileNotFoundException> vanished = Optional.empty();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                FileStatus[] found = fileSystem.listStatus(directory);
                if (found != null) {
                    return found;
                }
                // Flink's local file system, of what may not be listed or is not there.
                vanished = Optional.empty();
            } catch (FileNotFoundException e) {
                // The directory, or on the local file system one of the files in it.
                vanished = Optional.of(e);
            } catch (IOException | RuntimeException e) {
                throw FileAccess.unreadable(directory, e);
            }
            if (access.find(directory).isEmpty()) {
                return new FileStatus[0];
            }
        }
        if (vanished.isPresent()) {
            throw FileAccess.unreadable(directory, vanished.get());
        }
        throw new ToolException(
                String.format(
                        "%s cannot be listed: user '%s' has no permission.",
                        directory, System.getProperty("user.name")));
    }
}
