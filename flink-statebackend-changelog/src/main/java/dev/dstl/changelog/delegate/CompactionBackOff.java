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

package dev.dstl.changelog.delegate;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Skips compactions of column families where earlier ones saved little. A column family whose keys
 * are never written again loses nothing in a compaction, which rewrites all of it, and all its
 * files are then uploaded again. There the next 1, 2, 4 ... 32 opportunities are skipped. A
 * compaction that saves enough ends that, so a state whose use changes is compacted again after 32
 * opportunities at most.
 *
 * <p>One instance per backend, of bounded size. Thread-safe.
 */
public final class CompactionBackOff {

    /**
     * A compaction must save at least one part in so many of what it rewrites. Where level 0 just
     * has a third of the other levels' size and all its keys are in them as well, a quarter is
     * saved.
     */
    private static final int WORTHWHILE_FRACTION = 5;

    static final int MOST_SKIPPED = 32;

    /** By number of the column family, those whose last compaction saved little. */
    private final Map<Integer, Skips> skipsByFamily = new HashMap<>();

    /** Creates a back-off that skips nothing yet. */
    public CompactionBackOff() {}

    /** Returns whether to skip this opportunity to compact a column family, and counts it. */
    synchronized boolean skips(int columnFamily) {
        Skips skips = skipsByFamily.get(columnFamily);
        return skips != null && skips.remaining-- > 0;
    }

    /**
     * Reports what a compaction has done.
     *
     * @param rewrittenBytes of the files that it replaced
     * @param savedBytes by which the new files are smaller, or negative
     */
    synchronized void compacted(int columnFamily, long rewrittenBytes, long savedBytes) {
        if (savedBytes >= rewrittenBytes / WORTHWHILE_FRACTION) {
            skipsByFamily.remove(columnFamily);
        } else {
            skipsByFamily.computeIfAbsent(columnFamily, family -> new Skips()).increase();
        }
    }

    /** Forgets all other column families. */
    synchronized void retain(Set<Integer> columnFamilies) {
        skipsByFamily.keySet().retainAll(columnFamilies);
    }

    /** Opportunities to skip. */
    private static final class Skips {

        private int remaining;
        private int next = 1;

        void increase() {
            remaining = next;
            next = Math.min(2 * next, MOST_SKIPPED);
        }
    }
}
