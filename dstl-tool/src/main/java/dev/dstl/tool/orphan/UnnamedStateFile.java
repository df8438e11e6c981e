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

package dev.dstl.tool.orphan;

import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/** A state file that no checkpoint names. Immutable. */
final class UnnamedStateFile {

    private final FileStatus status;
    private final boolean ofRunningJob;

    UnnamedStateFile(FileStatus status, boolean ofRunningJob) {
        this.status = status;
        this.ofRunningJob = ofRunningJob;
    }

    Path file() {
        return status.getPath();
    }

    long bytes() {
        return status.getLen();
    }

    /**
     * Returns the modification time in milliseconds since the epoch; 0 or less if the file system
     * does not know it.
     */
    long modifiedEpochMillis() {
        return status.getModificationTime();
    }

    /** Returns whether its job may run and name it in its next checkpoint. */
    boolean isOfRunningJob() {
        return ofRunningJob;
    }
}
