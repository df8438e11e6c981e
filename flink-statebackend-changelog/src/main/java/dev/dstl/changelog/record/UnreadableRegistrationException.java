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

package dev.dstl.changelog.record;

import java.io.IOException;

/** The registration of a state cannot be read. The message names the reason and the fix. */
public final class UnreadableRegistrationException extends IOException {

    private static final long serialVersionUID = 1L;

    /** For a registration in a format that this release does not know. */
    UnreadableRegistrationException(int expected, int found) {
        super(
                String.format(
                        "Expected a state registration of version %d, found %d. A newer release of"
                                + " DSTL wrote it: restore with that release, or from a savepoint.",
                        expected, found));
    }

    /** For a registration whose content cannot be read. */
    UnreadableRegistrationException(String state, Exception cause) {
        super(
                String.format(
                        "Cannot read the registration of state %s. If a class of the job is"
                                + " missing, restore with a job that still has it; otherwise"
                                + " restore from another checkpoint or from a savepoint.",
                        state),
                cause);
    }
}
