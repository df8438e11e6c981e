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
 *            flush              flushed          begin             upload ends
 *    IDLE ----------> FLUSHING ---------> IDLE ---------> RUNNING -------------> IDLE
 *
 *           trigger            checkpoint        begin
 *    IDLE ----------> DUE --------------> IDLE ---------> RUNNING
 *
 *    any -- close --> CLOSED
 * </pre>
 *
 * <p>The second row holds if a materialization begins only with a checkpoint.
 */
enum MaterializerState {
    IDLE,
    DUE,
    FLUSHING,
    RUNNING,
    CLOSED;

    /**
     * Moves on to the next state.
     *
     * @return {@code next}
     * @throws IllegalStateException if there is no such transition; closing twice is allowed
     */
    MaterializerState to(MaterializerState next) {
        boolean isWay = next == CLOSED || (this == IDLE) != (next == IDLE);
        checkState(isWay && (this != CLOSED || next == CLOSED), "No way from %s to %s", this, next);
        return next;
    }
}
