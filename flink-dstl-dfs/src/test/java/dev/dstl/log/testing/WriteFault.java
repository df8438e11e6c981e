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

package dev.dstl.log.testing;

/** The fault of one write to a {@link FaultyStore}. */
public enum WriteFault {
    /** No fault. */
    NONE,
    /** The file cannot be created. */
    FAIL_ON_CREATE,
    /** The file cannot be created, as the store asks for fewer requests. */
    THROTTLE,
    /** The stream rejects every byte. */
    FAIL_ON_WRITE,
    /** The stream takes every byte, closing fails, and no file remains. */
    FAIL_ON_CLOSE,
    /** Closing fails although the file is stored. */
    FAIL_ON_CLOSE_BUT_STORE,
    /** Closing hangs until the test resumes it, then succeeds. */
    HANG,
    /** Closing hangs until the test resumes it, then fails. */
    HANG_THEN_FAIL,
    /** Writing hangs, whether interrupted or not, until another thread closes the stream. */
    HANG_UNTIL_CLOSED
}
