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

package dev.dstl.spillable.table;

import java.util.EnumSet;
import java.util.Set;

/**
 * Where the entries of one state in one key group are, and where they are going.
 *
 * <pre>{@code
 *            startSpill              heap part empty
 * ON_HEAP ---------------> SPILLING ----------------> SPILLED
 *    ^  ^                   |    ^                      |
 *    |  '-- nothing spilled |    | startSpill           | startLoad
 *    |                      v    |                      |
 *    '------------------- LOADING <---------------------'
 *      spilled part empty
 * }</pre>
 *
 * While entries move, each lies on exactly one side. New entries go where the group is going.
 */
public enum Residency {
    /** All entries are objects on the heap; nothing is spilled. */
    ON_HEAP,

    /** Entries leave the heap, and new ones go off-heap. */
    SPILLING,

    /** No entry is on the heap, and new ones go off-heap. */
    SPILLED,

    /** Entries come back to the heap, and new ones go there. */
    LOADING;

    private static Set<Residency> after(Residency from) {
        switch (from) {
            case ON_HEAP:
                return EnumSet.of(SPILLING);
            case SPILLING:
                return EnumSet.of(SPILLED, LOADING);
            case SPILLED:
                return EnumSet.of(LOADING);
            default:
                return EnumSet.of(ON_HEAP, SPILLING);
        }
    }

    /**
     * The next residency.
     *
     * @throws IllegalStateException if no arrow leads there
     */
    Residency to(Residency next) {
        if (!after(this).contains(next)) {
            throw new IllegalStateException("A key group cannot go from " + this + " to " + next);
        }
        return next;
    }

    boolean spillsNewEntries() {
        return this == SPILLING || this == SPILLED;
    }
}
