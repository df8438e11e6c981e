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
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;

/** A path from the command line and its file system. Immutable. */
public final class FileAccess {

    private final FileSystem fileSystem;
    private final Path path;

    private FileAccess(FileSystem fileSystem, Path path) {
        this.fileSystem = fileSystem;
        this.path = path;
    }

    /**
     * Finds the file system of a path.
     *
     * @throws ToolException if the text is not a path, or there is no file system for its scheme
     */
    public static FileAccess of(String text) throws ToolException {
        Path path;
        try {
            path = new Path(text);
        } catch (IllegalArgumentException e) {
            throw new ToolException(
                    String.format("'%s' is not a path: %s.", text, firstLine(e)), e);
        }
        try {
            FileSystem fileSystem = FileSystem.getUnguardedFileSystem(path.toUri());
            return new FileAccess(fileSystem, path.makeQualified(fileSystem));
        } catch (UnsupportedFileSystemSchemeException e) {
            throw new ToolException(
                    String.format(
                            "There is no file system for '%s': put its plugin into a directory"
                                    + " below Flink's plugins/, and set FLINK_PLUGINS_DIR if that is"
                                    + " elsewhere; for hdfs: set HADOOP_CLASSPATH.",
                            path),
                    e);
        } catch (IOException | RuntimeException e) {
            throw new ToolException(
                    String.format(
                            "The file system of %s cannot be set up: %s.", path, firstLine(e)),
                    e);
        }
    }

    /** Returns the file system. */
    public FileSystem fileSystem() {
        return fileSystem;
    }

    /** Returns the path with scheme and authority. */
    public Path path() {
        return path;
    }

    /**
     * Returns the status of the path.
     *
     * @throws ToolException if nothing is there, or it cannot be read
     */
    public FileStatus status() throws ToolException {
        return find(path).orElseThrow(() -> new ToolException(missing(path)));
    }

    /** Returns the status of another path of the same file system, empty if nothing is there. */
    public Optional<FileStatus> find(Path other) throws ToolException {
        try {
            return Optional.ofNullable(fileSystem.getFileStatus(other));
        } catch (FileNotFoundException | NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException | RuntimeException e) {
            throw unreadable(other, e);
        }
    }

    /** Returns a message that nothing is at a path. */
    public static String missing(Path path) {
        return String.format(
                "There is no %s, or user '%s' may not see it.",
                path, System.getProperty("user.name"));
    }

    /** Returns an exception for a path that cannot be read. */
    public static ToolException unreadable(Path path, Throwable cause) {
        return new ToolException(
                String.format("%s cannot be read: %s.", path, firstLine(cause)), cause);
    }

    /**
     * Returns the first line of an exception's message without its full stop; the class name if
     * there is no message.
     */
    public static String firstLine(Throwable cause) {
        String message = cause.getMessage();
        if (message == null || message.isBlank()) {
            return cause.getClass().getSimpleName();
        }
        String line = message.strip().lines().findFirst().orElse("").strip();
        return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    }
}
