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

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.memory.JobMemory;
import java.io.IOException;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;

/**
 * The configured base path: finds its file system and reports what is wrong with it. Only a scheme
 * without a file system is misuse. All other failures are retried: a disk can be freed, a bucket
 * created, a permission granted, and a host can come back.
 */
public final class BasePath {

    private final Path path;

    /** Creates a base path. Any path is accepted; problems show when it is opened. */
    public BasePath(Path path) {
        this.path = path;
    }

    /**
     * Opens the store below the base path. Blocks as long as the file system client does, which may
     * be forever.
     *
     * @param maxBufferBytes maximum size of the buffer of one write
     * @param memory changelog memory of the job
     * @throws IllegalConfigurationException if no file system is registered for the scheme
     * @throws IOException if the file system cannot be set up now
     */
    FileSystemSegmentStore open(int maxBufferBytes, JobMemory memory) throws IOException {
        try {
            return new FileSystemSegmentStore(
                    FileSystem.getUnguardedFileSystem(path.toUri()), path, maxBufferBytes, memory);
        } catch (UnsupportedFileSystemSchemeException e) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is '%s', for which there is no file system: %s Put the file"
                                    + " system's plugin into plugins/ of every node, or use a"
                                    + " scheme that is there.",
                            DstlOptions.BASE_PATH.key(), path, e.getMessage()));
        }
    }

    /**
     * Returns a message for users while nothing can be stored below the base path.
     *
     * @param since since when nothing can be stored
     * @param cause the latest failure
     */
    String complaint(String since, String cause) {
        return String.format(
                "'%s' is '%s', where no state changes could be stored %s: %s. Nothing is lost, and"
                        + " writes are retried; checkpoints wait or fail meanwhile. Make it a"
                        + " directory that the TaskManagers may write to and that has room, on an"
                        + " object store a bucket that exists and credentials that may write to"
                        + " it; nothing has to be restarted then.",
                DstlOptions.BASE_PATH.key(), path, since, cause);
    }

    @Override
    public String toString() {
        return String.format("'%s', '%s'", DstlOptions.BASE_PATH.key(), path);
    }
}
