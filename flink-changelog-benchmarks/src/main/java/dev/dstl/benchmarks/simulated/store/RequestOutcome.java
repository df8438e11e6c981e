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

/** The outcome of a request. */
public enum RequestOutcome {
    /** The store executed and confirmed the request. */
    SUCCESS("200 OK"),
    /** The store refused because of the rate of requests, and did nothing. */
    THROTTLED("503 Slow Down"),
    /** The store did nothing. */
    FAILED("500 Internal Error"),
    /** The store did it; the answer never arrived, so the caller sees a failure. */
    ACKNOWLEDGEMENT_LOST("connection reset"),
    /** No request gets through at the moment. */
    UNAVAILABLE("503 Service Unavailable"),
    /** Nobody listens where the store should be. */
    REFUSED("Connection refused"),
    /** The bucket does not exist. */
    NO_BUCKET("404 NoSuchBucket"),
    /** The caller may not do this. */
    FORBIDDEN("403 AccessDenied"),
    /** Nothing can be changed. */
    READ_ONLY("Read-only file system"),
    /** There is no room. */
    FULL("No space left on device");

    private final String status;

    RequestOutcome(String status) {
        this.status = status;
    }

    /** Returns the status line that a client would see. */
    public String status() {
        return status;
    }
}
