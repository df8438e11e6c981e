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

package dev.dstl.log.segment;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * How often compression is tried on the blocks of each changelog. If it saves little, it is tried
 * on fewer and fewer blocks, down to one in {@value #MAX_UNTRIED}, since the compressibility of an
 * operator's records rarely changes. Forgets changelogs that were not encoded for long. Not
 * thread-safe.
 */
final class CompressionTrials {

    static final int MAX_UNTRIED = 32;

    /** More than a TaskManager has tasks. */
    static final int MAX_CHANGELOGS = 1024;

    /** Roughly, of an entry with its key. */
    private static final int BYTES_PER_CHANGELOG = 128;

    /** Least recently encoded first. */
    private final Map<UUID, Trials> byChangelog = new LinkedHashMap<>(16, 0.75f, true);

    /** Returns the trials of a changelog. */
    Trials of(UUID logId) {
        Trials trials = byChangelog.get(logId);
        if (trials == null) {
            if (byChangelog.size() == MAX_CHANGELOGS) {
                Iterator<UUID> eldest = byChangelog.keySet().iterator();
                eldest.next();
                eldest.remove();
            }
            trials = new Trials();
            byChangelog.put(logId, trials);
        }
        return trials;
    }

    long keptBytes() {
        return (long) byChangelog.size() * BYTES_PER_CHANGELOG;
    }

    /** The trials of one changelog. */
    static final class Trials {

        /** Number of blocks to store uncompressed before the next try, and their initial number. */
        private int untried;

        private int untriedNext;

        /** Returns whether to try the next block. */
        boolean isDue() {
            return untried-- <= 0;
        }

        /** Reports a block that was tried. */
        void tried(boolean worthwhile) {
            untriedNext = worthwhile ? 0 : Math.min(2 * untriedNext + 1, MAX_UNTRIED - 1);
            untried = untriedNext;
        }
    }
}
