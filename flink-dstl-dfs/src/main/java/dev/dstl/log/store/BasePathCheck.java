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
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;

/**
 * Finds out, before a task appends its first record, whether segments can be written at all. A
 * wrong path would otherwise show as failing checkpoints only.
 */
public final class BasePathCheck {

    private BasePathCheck() {}

    /**
     * The file system of the base path.
     *
     * @throws IllegalConfigurationException if none is registered for its scheme, or it cannot be
     *     set up
     */
    public static FileSystem fileSystem(Path basePath) {
        try {
            return FileSystem.getUnguardedFileSystem(basePath.toUri());
        } catch (UnsupportedFileSystemSchemeException e) {
            throw complaint(
                    basePath,
                    e,
                    "Put the file system's plugin into plugins/ of every node, or use a scheme that"
                            + " is there.");
        } catch (IOException e) {
            throw complaint(
                    basePath, e, "Check host, port and credentials, or set another directory.");
        }
    }

    /**
     * Writes a file. Blocks while the store does.
     *
     * @param probe a name that is never used for a segment
     * @return the file, to be deleted by the caller
     * @throws IllegalConfigurationException if it cannot be written
     */
    public static Path write(Path basePath, SegmentStore store, SegmentName probe) {
        try {
            Path file = store.locate(probe);
            store.write(file, PROBE);
            return file;
        } catch (IOException | RuntimeException e) {
            throw complaint(
                    basePath,
                    e,
                    "Make it a directory that the TaskManagers may write to, on an object store a"
                            + " bucket that exists and credentials that may write to it, or set"
                            + " another one.");
        }
    }

    private static IllegalConfigurationException complaint(
            Path basePath, Exception cause, String fix) {
        return new IllegalConfigurationException(
                String.format(
                        "'%s' is '%s', where no changes can be stored: %s: %s. %s",
                        DstlOptions.BASE_PATH.key(),
                        basePath,
                        cause.getClass().getSimpleName(),
                        cause.getMessage(),
                        fix),
                cause);
    }

    private static final SegmentContent PROBE =
            new SegmentContent() {
                private final byte[] bytes =
                        "Written to see whether it can be.".getBytes(StandardCharsets.UTF_8);

                @Override
                public long length() {
                    return bytes.length;
                }

                @Override
                public void writeTo(OutputStream out) throws IOException {
                    out.write(bytes);
                }
            };
}
