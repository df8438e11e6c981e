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

package dev.dstl.log.memory;

/** Uses of changelog memory. */
public enum MemoryUse {
    /** Pages of active batches. */
    ACTIVE,
    /** Batches that are sealed and not durable. */
    IN_FLIGHT,
    /** Memory for encoding in addition to the batches: the segment, and sorting of its records. */
    ENCODING,
    /** Buffers between segments and the streams of the file system. */
    UPLOAD_BUFFERS,
    /** Records that are compacted. */
    COMPACTION,
    /** Segments that wait for the local disk. */
    LOCAL_COPIES,
    /** Frames that are fetched and not yet compacted. */
    READ_AHEAD,
    /** State changes that restores have read and not yet replayed; outside of the limit. */
    RESTORE,
    /** Pages, scratch memory of encoders and recent segments that are kept for later. */
    IDLE
}
