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

package dev.dstl.log.ownership;

/**
 * The process that has to delete a segment.
 *
 * <pre>{@code
 * UPLOADING ----> TASK_MANAGER <---> JOB_MANAGER
 *     |                |
 *     '---> NOBODY <---'
 * }</pre>
 *
 * <p>Once a handle that contains the segment was sent to the JobManager, the TaskManager cannot
 * know whether some checkpoint needs it. A missing notification proves nothing, since notifications
 * get lost. A notification that the checkpoint was aborted proves nothing either: a JobManager may
 * have stored the checkpoint, lost the connection to its store, and find it again later. Only if
 * every handle was dropped before it was sent does the TaskManager own the segment again.
 */
public enum SegmentOwnership {
    /** No attempt has succeeded yet. */
    UPLOADING,
    /** Durable, and in no handle that was given to a checkpoint. */
    TASK_MANAGER,
    /** In a handle that was given to a checkpoint and not dropped before it was sent. */
    JOB_MANAGER,
    /** No longer needed, and deleted if it was durable. */
    NOBODY;

    /**
     * Moves on to the next owner.
     *
     * @return {@code next}
     * @throws IllegalStateException if there is no such transition
     */
    SegmentOwnership to(SegmentOwnership next) {
        boolean allowed =
                (this == UPLOADING && (next == TASK_MANAGER || next == NOBODY))
                        || (this == TASK_MANAGER && (next == JOB_MANAGER || next == NOBODY))
                        || (this == JOB_MANAGER && next == TASK_MANAGER);
        if (!allowed) {
            throw new IllegalStateException("A segment cannot go from " + this + " to " + next);
        }
        return next;
    }
}
