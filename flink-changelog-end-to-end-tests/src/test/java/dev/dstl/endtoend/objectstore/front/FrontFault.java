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

package dev.dstl.endtoend.objectstore.front;

/** A fault of a request on its way to the store. */
public enum FrontFault {
    /** The store rejects the request with 503 SlowDown. */
    SLOW_DOWN,
    /** The store rejects the request with 403 AccessDenied. */
    FORBIDDEN,
    /** The connection breaks before the store has seen the request. */
    RESET,
    /** The store executes the request; the connection breaks before the response. */
    LOSE_ACKNOWLEDGEMENT,
    /** The request is held until it is released. */
    HOLD
}
