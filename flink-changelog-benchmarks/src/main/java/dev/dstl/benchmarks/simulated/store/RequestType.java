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

/** Request types, as object stores bill them. */
public enum RequestType {
    /** Write of a whole object, and the server-side copy a rename needs. */
    PUT(0),
    /** Read of a range of an object. */
    GET(1),
    /** Question whether an object exists and how long it is. */
    HEAD(2),
    /** One page of names. */
    LIST(3),
    /** Removal of one object. */
    DELETE(4);

    private final int slot;

    RequestType(int slot) {
        this.slot = slot;
    }

    /** Returns the index of this type in a counter file, from 0. */
    int slot() {
        return slot;
    }
}
