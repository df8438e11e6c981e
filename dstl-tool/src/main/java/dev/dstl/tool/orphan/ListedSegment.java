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

import dev.dstl.log.store.SegmentName;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/** A file that is named like a segment. Immutable. */
final class ListedSegment {

    private final SegmentName name;
    private final Path file;
    private final long bytes;
    private final long modifiedEpochMillis;

    ListedSegment(SegmentName name, FileStatus status) {
        this.name = name;
        this.file = status.getPath();
        this.bytes = status.getLen();
        this.modifiedEpochMillis = status.getModificationTime();
    }

    SegmentName name() {
        return name;
    }

    Path file() {
        return file;
    }

    /**
     * Returns the writer: one incarnation of a TaskManager's storage, whose name is never reused.
     */
    String writer() {
        return file.getParent().getName();
    }

    /** Returns the id of the job that wrote it. */
    String job() {
        return file.getParent().getParent().getParent().getName();
    }

    long bytes() {
        return bytes;
    }

    /**
     * Returns the modification time in milliseconds since the epoch; 0 or less if the file system
     * does not know it.
     */
    long modifiedEpochMillis() {
        return modifiedEpochMillis;
    }
}
