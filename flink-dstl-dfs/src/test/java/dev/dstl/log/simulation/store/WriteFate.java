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

package dev.dstl.log.simulation.store;

/** The outcome of one write. */
enum WriteFate {
    STORED,
    /** The file cannot be created. */
    FAILS_AT_CREATE,
    /** The stream breaks after some bytes. */
    FAILS_IN_THE_MIDDLE,
    /** Closing fails after all bytes were handed over; there is no file. */
    FAILS_ON_CLOSE,
    /** The same, but a truncated file remains. */
    FAILS_ON_CLOSE_AND_LEAVES_PART,
    /** Closing fails although the file is complete. */
    FAILS_BUT_IS_STORED,
    /** Closing fails, but the file appears some time later. */
    FAILS_AND_IS_STORED_LATER,
    /** Closing takes very long, then succeeds. */
    HANGS_THEN_STORED,
    /** Closing takes very long, then fails. */
    HANGS_THEN_FAILS,
    /** Closing returns only if it is interrupted or the stream is closed again. */
    HANGS_FOREVER,
    /** Closing never returns. */
    HANGS_FOREVER_AND_IS_DEAF,
    /** The store asks for fewer requests. */
    REFUSED;

    boolean hangs() {
        return this == HANGS_THEN_STORED || this == HANGS_THEN_FAILS || isEternal();
    }

    boolean isEternal() {
        return this == HANGS_FOREVER || this == HANGS_FOREVER_AND_IS_DEAF;
    }

    boolean succeeds() {
        return this == STORED || this == HANGS_THEN_STORED;
    }
}
