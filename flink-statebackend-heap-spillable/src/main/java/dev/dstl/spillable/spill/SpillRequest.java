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

package dev.dstl.spillable.spill;

/**
 * How many bytes the arbiter asks one backend to move. Set by the thread that reports garbage
 * collections, worked off by the task thread.
 */
final class SpillRequest {

    /** Bytes to spill if positive, to load if negative. */
    private volatile long bytes;

    private volatile boolean urgent;

    /** Replaces what was asked before. */
    synchronized void set(long newBytes, boolean isUrgent) {
        urgent = isUrgent;
        bytes = newBytes;
    }

    boolean isOpen() {
        return bytes != 0;
    }

    boolean asksToSpill() {
        return bytes > 0;
    }

    /** Bytes to load that are left, 0 if there are none. */
    double bytesToLoad() {
        return Math.max(0.0, -(double) bytes);
    }

    boolean isUrgent() {
        return urgent;
    }

    /** Takes off what was done, unless a request the other way has come meanwhile. */
    synchronized void done(long moved) {
        long requested = bytes;
        if (requested > 0) {
            bytes = Math.max(0, requested - moved);
        } else if (requested < 0) {
            bytes = Math.min(0, requested + moved);
        }
    }

    /** Asks for nothing any more. */
    void drop() {
        bytes = 0;
    }
}
