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

package dev.dstl.log.simulation.invariant;

/** Reason why a file that no checkpoint needs is left behind. */
public enum Leftover {
    /** Its process ended before it could delete the file. */
    WRITER_CRASHED,
    /** It was acknowledged to a JobManager that ended before it received the message. */
    HANDLE_WAS_LOST,
    /** The store refused every deletion. */
    DELETE_WAS_REFUSED,
    /** The store finished a write that it had reported as failed, after the file was deleted. */
    ARRIVED_AFTER_DELETE,
    /** It was stored, but the store never answered and the attempt could not be cancelled. */
    NEVER_ANSWERED
}
