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

package dev.dstl.log.segment;

import dev.dstl.log.api.StoreException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import org.apache.flink.core.fs.Path;

/** Distinguishes a missing file from an unreadable one, and explains both to an operator. */
final class FailedRead {

    private FailedRead() {}

    static IOException explained(String kind, String file, boolean gone, Exception cause) {
        StoreException said = StoreException.of(StoreException.describe(cause), cause);
        if (gone) {
            FileNotFoundException notFound =
                    new FileNotFoundException(
                            String.format(
                                    "%s %s is gone (%s). The checkpoint still needs it, so"
                                            + " something other than Flink deleted it, or its"
                                            + " directory is not mounted or not readable here."
                                            + " Bring the file back, or restore from another"
                                            + " checkpoint or savepoint.",
                                    kind, file, said.getMessage()));
            notFound.initCause(said);
            return notFound;
        }
        return StoreException.of(
                String.format("%s %s cannot be read: %s", kind, file, said.getMessage()), cause);
    }

    static boolean isNotFound(Exception cause) {
        return cause instanceof FileNotFoundException || cause instanceof NoSuchFileException;
    }

    /**
     * Asks the file system, since file systems of plugins report a missing file with exception
     * classes of their own.
     */
    static boolean isAbsent(Path path) {
        try {
            return !path.getFileSystem().exists(path);
        } catch (IOException | RuntimeException noAnswer) {
            return false;
        }
    }

    /** Returns whether the file system says that a file is shorter. */
    static boolean isShorter(Path path, long bytes) {
        try {
            return path.getFileSystem().getFileStatus(path).getLen() < bytes;
        } catch (IOException | RuntimeException noAnswer) {
            return false;
        }
    }
}
