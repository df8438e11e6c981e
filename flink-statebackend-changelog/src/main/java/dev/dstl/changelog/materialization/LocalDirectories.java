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

package dev.dstl.changelog.materialization;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.util.Optional;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;

/**
 * The directories of a subtask's local copies, one for each materialization id. Flink makes them
 * when a copy is written, and deletes only those whose id it finds in a local checkpoint.
 * Thread-safe.
 */
public final class LocalDirectories {

    private final Optional<LocalSnapshotDirectoryProvider> directories;

    /** Uses the directories that {@code local} names, none if there are no local copies. */
    public LocalDirectories(LocalRecoveryConfig local) {
        this.directories = local.getLocalStateDirectoryProvider();
    }

    /**
     * Deletes the directory of a materialization, unless it is missing or has a copy of another
     * operator of the subtask.
     *
     * @throws IOException if it cannot be deleted
     */
    void deleteIfEmpty(long materializationId) throws IOException {
        if (directories.isEmpty()) {
            return;
        }
        try {
            Files.deleteIfExists(
                    directories
                            .get()
                            .subtaskSpecificCheckpointDirectory(materializationId)
                            .toPath());
        } catch (DirectoryNotEmptyException stillNeeded) {
            return;
        }
    }
}
