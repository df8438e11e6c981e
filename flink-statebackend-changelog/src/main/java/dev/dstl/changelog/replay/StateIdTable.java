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

import dev.dstl.log.api.LogRecord;
import java.util.Arrays;

/** The states of one changelog handle by state id. Used by the task thread. */
final class StateIdTable {

    /** Ids are consecutive, one per registration; no job comes near this limit. */
    private static final int MAX_STATE_ID = 1 << 20;

    private StateApplier[] appliers = new StateApplier[16];
    private byte[][] registrations = new byte[16][];

    /**
     * Returns whether the same registration was added before, as happens when a new range starts.
     */
    boolean isKnown(int stateId, LogRecord meta) {
        byte[] known = isInTable(stateId) ? registrations[stateId] : null;
        return known != null
                && Arrays.equals(
                        known,
                        0,
                        known.length,
                        meta.buffer(),
                        meta.payloadOffset(),
                        meta.payloadOffset() + meta.payloadLength());
    }

    void put(int stateId, LogRecord meta, StateApplier applier) throws CorruptLogException {
        if (stateId < 0 || stateId > MAX_STATE_ID) {
            throw new CorruptLogException(
                    "expected a state id from 0 to " + MAX_STATE_ID + ", found " + stateId + ".",
                    null);
        }
        if (stateId >= appliers.length) {
            int length = Math.max(stateId + 1, 2 * appliers.length);
            appliers = Arrays.copyOf(appliers, length);
            registrations = Arrays.copyOf(registrations, length);
        }
        appliers[stateId] = applier;
        registrations[stateId] =
                Arrays.copyOfRange(
                        meta.buffer(),
                        meta.payloadOffset(),
                        meta.payloadOffset() + meta.payloadLength());
    }

    StateApplier applierOf(int stateId, LogRecord record) throws CorruptLogException {
        StateApplier applier = isInTable(stateId) ? appliers[stateId] : null;
        if (applier == null) {
            throw new CorruptLogException(
                    String.format(
                            "expected the registration of state id %d before its first record,"
                                    + " found a %s in key group %d.",
                            stateId, record.kind(), record.keyGroup()),
                    null);
        }
        return applier;
    }

    private boolean isInTable(int stateId) {
        return stateId >= 0 && stateId < appliers.length;
    }
}
