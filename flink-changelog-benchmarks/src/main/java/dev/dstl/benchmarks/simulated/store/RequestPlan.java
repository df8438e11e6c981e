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

import java.util.concurrent.TimeUnit;

/** Latency and outcome of one request. Immutable. */
public final class RequestPlan {

    private final long latencyNanos;
    private final RequestOutcome outcome;

    RequestPlan(long latencyNanos, RequestOutcome outcome) {
        this.latencyNanos = latencyNanos;
        this.outcome = outcome;
    }

    /** Creates a plan. */
    public static RequestPlan of(RequestOutcome outcome, long latencyMillis) {
        return new RequestPlan(TimeUnit.MILLISECONDS.toNanos(latencyMillis), outcome);
    }

    /** Returns the time to the first byte of the answer, in nanoseconds. */
    public long latencyNanos() {
        return latencyNanos;
    }

    /** Returns the outcome. */
    public RequestOutcome outcome() {
        return outcome;
    }
}
