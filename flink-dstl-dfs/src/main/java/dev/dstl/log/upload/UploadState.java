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

package dev.dstl.log.upload;

/**
 * The state of the upload of one segment.
 *
 * <pre>
 *              .----------.
 *              v          |
 *   IDLE --> RUNNING --> SUSPENDED
 *     |        |   |          |
 *     |        |   '----+-----'
 *     |        v        v
 *     |     DURABLE  ABANDONED
 *     '-----------------^
 * </pre>
 */
enum UploadState {
    /** Not started. */
    IDLE,
    /** Attempts are running or scheduled. */
    RUNNING,
    /** Paused: the waiting checkpoints have failed, the data is retained. */
    SUSPENDED,
    /** An attempt succeeded. */
    DURABLE,
    /** The segment is no longer needed. */
    ABANDONED;

    boolean isSettled() {
        return this == DURABLE || this == ABANDONED;
    }

    /**
     * Moves on to the next state.
     *
     * @return {@code next}
     * @throws IllegalStateException if there is no such transition
     */
    UploadState to(UploadState next) {
        boolean allowed;
        switch (next) {
            case RUNNING:
                allowed = this == IDLE || this == SUSPENDED;
                break;
            case SUSPENDED:
            case DURABLE:
                allowed = this == RUNNING;
                break;
            case ABANDONED:
                allowed = !isSettled();
                break;
            default:
                allowed = false;
        }
        if (!allowed) {
            throw new IllegalStateException("An upload cannot go from " + this + " to " + next);
        }
        return next;
    }
}
