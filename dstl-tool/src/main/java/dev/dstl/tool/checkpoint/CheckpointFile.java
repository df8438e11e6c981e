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

package dev.dstl.tool.checkpoint;

import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;

/** The {@code _metadata} of a checkpoint or savepoint. Immutable. */
public final class CheckpointFile {

    /** Name of the file in which Flink stores the metadata of a checkpoint. */
    public static final String NAME = "_metadata";

    /** How Flink begins its message about metadata of a later version. */
    private static final String UNKNOWN_VERSION = "Unrecognized checkpoint version number";

    private final FileSystem fileSystem;
    private final Path file;

    CheckpointFile(FileSystem fileSystem, Path file) {
        this.fileSystem = fileSystem;
        this.file = file;
    }

    /** Returns whether a path is a directory, or a file with the name of checkpoint metadata. */
    public static boolean isMeantBy(FileStatus status) {
        return status.isDir() || NAME.equals(status.getPath().getName());
    }

    /**
     * Finds the checkpoint at a path.
     *
     * @param access path of its directory or of its metadata file
     * @throws ToolException if there is no checkpoint
     */
    public static CheckpointFile at(FileAccess access) throws ToolException {
        FileStatus status = access.status();
        if (!CheckpointFile.isMeantBy(status)) {
            throw new ToolException(
                    String.format(
                            "%s is not a checkpoint: name the directory of one checkpoint (chk-N)"
                                    + " or savepoint, or its file %s.",
                            access.path(), NAME));
        }
        Path file = status.isDir() ? new Path(access.path(), NAME) : access.path();
        Optional<FileStatus> metadata = access.find(file);
        if (metadata.isEmpty() || metadata.get().isDir()) {
            throw new ToolException(
                    String.format(
                            "Directory %s has no %s, so it is not a complete checkpoint: name the"
                                    + " directory of one checkpoint (chk-N) or savepoint.",
                            access.path(), NAME));
        }
        return new CheckpointFile(access.fileSystem(), file);
    }

    /** Returns the directory of the checkpoint. */
    public Path directory() {
        return file.getParent();
    }

    /**
     * Reads the metadata. Needs no class of the job.
     *
     * @param stateFiles receives the names of the state files that it contains
     * @throws FileNotFoundException if the file no longer exists
     * @throws ToolException if the file cannot be read or parsed
     */
    CheckpointContent read(Set<UUID> stateFiles) throws ToolException, FileNotFoundException {
        try (DataInputStream in =
                new DataInputStream(new StateFileNames(fileSystem.open(file), stateFiles))) {
            CheckpointMetadata metadata =
                    Checkpoints.loadCheckpointMetadata(
                            in, CheckpointFile.class.getClassLoader(), directory().toString());
            return CheckpointContent.of(directory(), metadata);
        } catch (FileNotFoundException e) {
            throw e;
        } catch (NoSuchFileException e) {
            throw (FileNotFoundException) new FileNotFoundException(e.getMessage()).initCause(e);
        } catch (EOFException e) {
            throw new ToolException(
                    String.format(
                            "%s cannot be read: it is truncated or damaged, unless a job is just"
                                    + " writing it; use another checkpoint.",
                            file),
                    e);
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // Lengths in a damaged file are arbitrary, and Flink allocates arrays of that size.
            throw unreadable(e);
        }
    }

    private ToolException unreadable(Throwable cause) {
        String reason = FileAccess.firstLine(cause);
        return reason.startsWith(UNKNOWN_VERSION)
                ? new ToolException(
                        String.format(
                                "%s cannot be read: %s, which this Flink does not know; set"
                                        + " FLINK_HOME to the Flink that wrote it.",
                                file, reason),
                        cause)
                : FileAccess.unreadable(file, cause);
    }

    /**
     * Reads the metadata.
     *
     * @throws ToolException if the file does not exist, or cannot be read or parsed
     */
    public CheckpointContent content() throws ToolException {
        try {
            return read(new HashSet<>());
        } catch (FileNotFoundException e) {
            throw FileAccess.unreadable(file, e);
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
