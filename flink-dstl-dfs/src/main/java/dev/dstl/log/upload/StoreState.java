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
 * The health of the store, as seen from the uploads of a job on a TaskManager.
 *
 * <pre>{@code
 * HEALTHY <--> DEGRADED ---> OUTAGE <---> RECOVERED
 *    ^             ^                        |  |
 *    |             '------------------------'  |
 *    '-----------------------------------------'
 * }</pre>
 */
enum StoreState {
    /** Attempts succeed, with few exceptions. */
    HEALTHY(0),
    /**
     * Attempts succeed again after an outage, and waiting segments are being uploaded; or the store
     * answers again and there are none.
     */
    RECOVERED(1),
    /** Many attempts fail, are throttled or time out. */
    DEGRADED(2),
    /** No attempt has succeeded for some time, nor a ping once there are no more attempts. */
    OUTAGE(3);

    private final int severity;

    StoreState(int severity) {
        this.severity = severity;
    }

    /** Returns the value of the metric; higher is worse. */
    int severity() {
        return severity;
    }

    /**
     * Moves on to the next state.
     *
     * @return {@code next}
     * @throws IllegalStateException if there is no such transition
     */
    StoreState to(StoreState next) {
        boolean allowed;
        switch (next) {
            case HEALTHY:
                allowed = this == DEGRADED || this == RECOVERED;
                break;
            case DEGRADED:
                allowed = this == HEALTHY || this == RECOVERED;
                break;
            case OUTAGE:
                allowed = this == DEGRADED || this == RECOVERED;
                break;
            default:
                allowed = this == OUTAGE;
                break;
        }
        if (!allowed) {
            throw new IllegalStateException("A store cannot go from " + this + " to " + next);
        }
        return next;
    }
}
