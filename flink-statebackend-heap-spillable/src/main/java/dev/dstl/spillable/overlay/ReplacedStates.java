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

package dev.dstl.spillable.overlay;

import java.util.Arrays;

/**
 * Lets a query notice that a state of several entries was removed or got other contents while it
 * was read: a sequence for all keys whose hashes agree in some bits, in which a change is under way
 * while one of their states is. Only the task thread changes states.
 */
final class ReplacedStates {

    /** Enough of them, and other keys seldom make a query look again. */
    private static final int SEQUENCES = 1024;

    private final ChangeSequence[] sequences = new ChangeSequence[SEQUENCES];
    private int open;
    private ChangeSequence current;

    ReplacedStates() {
        Arrays.setAll(sequences, i -> new ChangeSequence());
        current = sequences[0];
    }

    /** A state begins to be replaced; one that contains the other counts. */
    void begin(int hash) {
        if (open++ == 0) {
            current = of(hash);
            current.begin();
        }
    }

    /** What {@link #begin} has begun is done. */
    void end() {
        if (--open == 0) {
            current.end();
        }
    }

    /** Changes of the states of a key. */
    ChangeSequence of(int hash) {
        return sequences[(hash ^ (hash >>> 16)) & (SEQUENCES - 1)];
    }
}
