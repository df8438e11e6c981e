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

package dev.dstl.benchmarks.simulated.store;

import javax.annotation.Nullable;

/** How a store responds to requests during an outage. */
public enum Outage {
    /** Rejects all requests. */
    FAILING(RequestOutcome.UNAVAILABLE, Refused.EVERYTHING),
    /** Answers none of them until the outage ends; then they proceed. */
    HANGING(null, Refused.NOTHING),
    /** Asks for fewer requests, however few there are. */
    THROTTLING(RequestOutcome.THROTTLED, Refused.EVERYTHING),
    /** Nobody listens. */
    REFUSED(RequestOutcome.REFUSED, Refused.EVERYTHING),
    /** There is no such bucket. */
    NO_BUCKET(RequestOutcome.NO_BUCKET, Refused.EVERYTHING),
    /** Lets the caller read, but not write or delete. */
    FORBIDDEN(RequestOutcome.FORBIDDEN, Refused.CHANGES),
    /** Like a disk that was mounted to be read. */
    READ_ONLY(RequestOutcome.READ_ONLY, Refused.CHANGES),
    /** Like a disk that is full. */
    FULL(RequestOutcome.FULL, Refused.WRITES);

    @Nullable private final RequestOutcome outcome;
    private final Refused refused;

    Outage(@Nullable RequestOutcome outcome, Refused refused) {
        this.outcome = outcome;
        this.refused = refused;
    }

    /** Returns whether requests of a type fail. */
    public boolean refuses(RequestType type) {
        switch (refused) {
            case EVERYTHING:
                return true;
            case CHANGES:
                return type == RequestType.PUT || type == RequestType.DELETE;
            case WRITES:
                return type == RequestType.PUT;
            default:
                return false;
        }
    }

    /** Returns the outcome of a failed request. */
    RequestOutcome outcome() {
        if (outcome == null) {
            throw new IllegalStateException(this + " refuses nothing");
        }
        return outcome;
    }

    private enum Refused {
        NOTHING,
        WRITES,
        CHANGES,
        EVERYTHING
    }
}
