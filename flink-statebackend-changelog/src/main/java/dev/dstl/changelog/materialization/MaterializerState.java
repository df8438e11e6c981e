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

import static org.apache.flink.util.Preconditions.checkState;

/**
 * The state of a {@link Materializer}.
 *
 * <pre>
 *    IDLE --- flush ---> FLUSHING --- flushed ----.
 *     |                                           v
 *     |------ begin ------------------------> BEGINNING --- begun ---> RUNNING
 *     |                                           ^ |                     |
 *     '----- trigger --> DUE ----- checkpoint ----' |                     |
 *                                                   '- nothing to do -> IDLE <- upload ends
 *
 *    any state --- close ---> CLOSED
 * </pre>
 *
 * <p>It becomes {@code DUE} if only a checkpoint may begin the materialization.
 */
enum MaterializerState {
    IDLE,
    DUE,
    FLUSHING,
    /** The delegate starts its snapshot, on the task thread. */
    BEGINNING,
    RUNNING,
    CLOSED;

    /**
     * Moves on to the next state.
     *
     * @return {@code next}
     * @throws IllegalStateException if there is no such transition; closing twice is allowed
     */
    MaterializerState to(MaterializerState next) {
        checkState(next == CLOSED || isWayTo(next), "No way from %s to %s", this, next);
        return next;
    }

    private boolean isWayTo(MaterializerState next) {
        switch (this) {
            case IDLE:
                return next == DUE || next == FLUSHING || next == BEGINNING;
            case DUE:
            case FLUSHING:
                return next == BEGINNING;
            case BEGINNING:
                return next == RUNNING || next == IDLE;
            case RUNNING:
                return next == IDLE;
            default:
                return false;
        }
    }
}
