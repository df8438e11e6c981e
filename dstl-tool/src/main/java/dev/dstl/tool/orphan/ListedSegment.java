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

/** A file that is named like a segment. Immutable. */
final class ListedSegment extends ListedFile {

    private final SegmentName name;

    ListedSegment(SegmentName name, FileStatus status) {
        super(status);
        this.name = name;
    }

    SegmentName name() {
        return name;
    }

    /**
     * Returns the writer: one incarnation of a TaskManager's storage, whose name is never reused.
     */
    String writer() {
        return file().getParent().getName();
    }

    /** Returns the id of the job that wrote it. */
    String job() {
        return file().getParent().getParent().getParent().getName();
    }
}
