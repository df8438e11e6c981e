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

package dev.dstl.log.commit;

/**
 * The state of a sealed batch.
 *
 * <pre>
 *   SEALED --> QUEUED --> IN_SEGMENT --> DURABLE
 *      |          |           |             |
 *      '----------'-----+-----'-------------'
 *                       v
 *                   RELEASED
 * </pre>
 */
enum BatchState {
    /** Not submitted yet. */
    SEALED,
    /** Waits for the next segment to be rolled. */
    QUEUED,
    /** Part of a segment that is being uploaded, and stays in it. */
    IN_SEGMENT,
    /** Its segment is durable. */
    DURABLE,
    /** No longer needed. */
    RELEASED;

    /**
     * Moves on to the next state.
     *
     * @return {@code next}
     * @throws IllegalStateException if there is no such transition
     */
    BatchState to(BatchState next) {
        boolean allowed =
                (this == SEALED && next == QUEUED)
                        || (this == QUEUED && next == IN_SEGMENT)
                        || (this == IN_SEGMENT && next == DURABLE)
                        || (this != RELEASED && next == RELEASED);
        if (!allowed) {
            throw new IllegalStateException("A batch cannot go from " + this + " to " + next);
        }
        return next;
    }
}
