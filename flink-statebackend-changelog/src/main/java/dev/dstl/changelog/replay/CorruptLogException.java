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

package dev.dstl.changelog.replay;

import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.changelog.record.UnreadableRegistrationException;
import dev.dstl.log.api.LogRecord;
import java.io.IOException;
import javax.annotation.Nullable;

/**
 * The changelog contains a record that cannot be replayed; a retry does not help. The message names
 * the state, the record, the defect and the fix.
 */
public final class CorruptLogException extends IOException {

    private static final long serialVersionUID = 1L;

    private static final String REMEDY =
            " Nothing was lost elsewhere: restore from another checkpoint or from a savepoint.";

    CorruptLogException(String found, @Nullable Throwable cause) {
        this(found, REMEDY, cause);
    }

    private CorruptLogException(String found, String remedy, @Nullable Throwable cause) {
        super("The changelog cannot be replayed: " + found + remedy, cause);
    }

    /** Creates an exception whose cause names the fix. */
    static CorruptLogException explained(int stateId, UnreadableRegistrationException cause) {
        return new CorruptLogException(
                "the registration of state id " + stateId + ": " + cause.getMessage(), "", cause);
    }

    static CorruptLogException at(
            RestoredRegistration state, LogRecord record, String found, @Nullable Throwable cause) {
        return new CorruptLogException(
                String.format(
                        "a %s record of state '%s' (%s) in key group %d: %s.",
                        record.kind(), state.name(), state.kind(), record.keyGroup(), found),
                cause);
    }
}
