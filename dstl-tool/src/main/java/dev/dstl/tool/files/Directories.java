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
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/** Lists directories, which a running job may change meanwhile. */
public final class Directories {

    private static final Pattern JOB_ID = Pattern.compile("[0-9a-f]{32}");
    private static final String LOCAL = "file";
    private static final int ATTEMPTS = 5;

    private Directories() {}

    /** Returns whether a directory has the name of a job's directory. */
    public static boolean isOfJob(Path directory) {
        return isJobId(directory.getName());
    }

    /** Returns whether a text is the id of a job as Flink prints it. */
    public static boolean isJobId(String text) {
        return JOB_ID.matcher(text).matches();
    }

    /**
     * Passes every file below a directory to a consumer. Symbolic links are not followed: they may
     * lead out of the directory, or back into it.
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
            for (FileStatus status : list(root, directory, false).orElse(List.of())) {
                if (!status.isDir()) {
                    files.accept(status);
                } else if (descend.test(directory, status.getPath())) {
                    waiting.add(status.getPath());
                }
            }
        }
    }

    /**
     * Returns what is in a directory, also by symbolic links; empty if there is no such directory.
     *
     * @throws ToolException if it cannot be listed, or if something in it cannot be found
     */
    public static Optional<List<FileStatus>> list(FileAccess access, Path directory)
            throws ToolException {
        return list(access, directory, true);
    }

    /** Returns a name of a directory that is the same by whichever links it is reached. */
    public static String identity(FileAccess access, Path directory) {
        if (isLocal(access)) {
            try {
                return local(directory).toPath().toRealPath().toString();
            } catch (IOException | InvalidPathException e) {
                // Listing it shows whether it is gone.
                return directory.toString();
            }
        }
        return directory.toString();
    }

    private static boolean isLocal(FileAccess access) {
        return LOCAL.equals(access.fileSystem().getUri().getScheme());
    }

    private static File local(Path path) {
        return new File(path.getPath());
    }

    private static Optional<List<FileStatus>> list(
            FileAccess access, Path directory, boolean withLinks) throws ToolException {
        return isLocal(access)
                ? listLocal(access, directory, withLinks)
                : listRemote(access, directory);
    }

    private static Optional<List<FileStatus>> listRemote(FileAccess access, Path directory)
            throws ToolException {
        FileSystem fileSystem = access.fileSystem();
        Optional<FileNotFoundException> vanished = Optional.empty();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                FileStatus[] found = fileSystem.listStatus(directory);
                if (found != null) {
                    return Optional.of(Arrays.asList(found));
                }
                vanished = Optional.empty();
            } catch (FileNotFoundException e) {
                // The directory, or with some file systems one of the files in it.
                vanished = Optional.of(e);
            } catch (IOException | RuntimeException e) {
                throw FileAccess.unreadable(directory, e);
            }
            if (access.find(directory).isEmpty()) {
                return Optional.empty();
            }
        }
        throw vanished.isPresent()
                ? FileAccess.unreadable(directory, vanished.get())
                : notPermitted(directory);
    }

    /**
     * Lists a local directory. Flink's file system fails whenever one file vanishes while it lists
     * a directory, as happens all the time in a large one, or has a name with a colon.
     */
    private static Optional<List<FileStatus>> listLocal(
            FileAccess access, Path directory, boolean withLinks) throws ToolException {
        String[] names = local(directory).list();
        if (names == null) {
            if (access.find(directory).isEmpty()) {
                return Optional.empty();
            }
            throw notPermitted(directory);
        }
        List<FileStatus> found = new ArrayList<>(names.length);
        Set<String> vanished = new LinkedHashSet<>();
        for (String name : names) {
            File file = new File(local(directory), name);
            if (withLinks || !isLink(file)) {
                Optional<FileStatus> status = access.find(new Path(LOCAL, null, file.getPath()));
                status.ifPresentOrElse(found::add, () -> vanished.add(name));
            }
        }
        if (!vanished.isEmpty()) {
            String[] now = local(directory).list();
            vanished.retainAll(now == null ? Set.of() : new HashSet<>(Arrays.asList(now)));
        }
        if (!vanished.isEmpty()) {
            throw new ToolException(
                    String.format(
                            "%s is listed, but cannot be found: it may be a symbolic link to what is"
                                    + " not mounted, or its name needs another locale, such as"
                                    + " LC_ALL=C.UTF-8.",
                            new File(local(directory), vanished.iterator().next())));
        }
        return Optional.of(found);
    }

    private static boolean isLink(File file) {
        try {
            return Files.isSymbolicLink(file.toPath());
        } catch (InvalidPathException e) {
            // The locale cannot express the name, so the file cannot be found either.
            return false;
        }
    }

    private static ToolException notPermitted(Path directory) {
        return new ToolException(
                String.format(
                        "%s cannot be listed: user '%s' has no permission.",
                        directory, System.getProperty("user.name")));
    }
}
