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
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Optional;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;

/** The {@code _metadata} of a checkpoint or savepoint. Immutable. */
public final class CheckpointFile {

    /** The name under which Flink writes what a checkpoint consists of. */
    public static final String NAME = "_metadata";

    private final FileSystem fileSystem;
    private final Path file;

    CheckpointFile(FileSystem fileSystem, Path file) {
        this.fileSystem = fileSystem;
        this.file = file;
    }

    /** Whether a path can only mean a checkpoint: a directory, or a file of the right name. */
    public static boolean isMeantBy(FileStatus status) {
        return status.isDir() || NAME.equals(status.getPath().getName());
    }

    /**
     * Finds the checkpoint that a path means.
     *
     * @param access its directory, or the file itself
     * @throws ToolException if there is none
     */
    public static CheckpointFile at(FileAccess access) throws ToolException {
        FileStatus status = access.status();
        if (!CheckpointFile.isMeantBy(status)) {
            throw new ToolException(
                    String.format(
                            "%s is no checkpoint: name the directory of one checkpoint (chk-N) or"
                                    + " savepoint, or its file %s.",
                            access.path(), NAME));
        }
        Path file = status.isDir() ? new Path(access.path(), NAME) : access.path();
        Optional<FileStatus> metadata = access.find(file);
        if (metadata.isEmpty() || metadata.get().isDir()) {
            throw new ToolException(
                    String.format(
                            "Directory %s has no %s, so it is no complete checkpoint: name the"
                                    + " directory of one checkpoint (chk-N) or savepoint.",
                            access.path(), NAME));
        }
        return new CheckpointFile(access.fileSystem(), file);
    }

    /** The directory of the checkpoint. */
    public Path directory() {
        return file.getParent();
    }

    /**
     * Reads it. Needs no class of the job.
     *
     * @throws FileNotFoundException if it is gone
     * @throws ToolException if it cannot be read or understood
     */
    CheckpointContent read() throws ToolException, FileNotFoundException {
        try (DataInputStream in = new DataInputStream(fileSystem.open(file))) {
            CheckpointMetadata metadata =
                    Checkpoints.loadCheckpointMetadata(
                            in, CheckpointFile.class.getClassLoader(), directory().toString());
            return CheckpointContent.of(directory(), metadata);
        } catch (FileNotFoundException e) {
            throw e;
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // Lengths in a damaged file are any numbers, and Flink makes arrays of them.
            throw FileAccess.unreadable(file, e);
        }
    }

    /**
     * Reads it.
     *
     * @throws ToolException if it is gone, cannot be read or not be understood
     */
    public CheckpointContent content() throws ToolException {
        try {
            return read();
        } catch (FileNotFoundException e) {
            throw FileAccess.unreadable(file, e);
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
