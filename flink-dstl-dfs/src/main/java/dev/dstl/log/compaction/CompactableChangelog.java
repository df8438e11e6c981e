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

package dev.dstl.log.compaction;

import java.util.Collection;
import java.util.SortedSet;

/**
 * The runs of a changelog from which the next compaction is chosen. Guarded by the lock that guards
 * the runs.
 *
 * @param <B> the runs
 */
public final class CompactableChangelog<B extends CompactionInput> {

    private final Collection<B> runs;
    private final SortedSet<Long> boundaries;
    private final double survivorRatio;
    private final CompactionGoal goal;
    private final long persists;

    /**
     * Creates a view of a changelog.
     *
     * @param runs in order, without gaps; a view, not copied
     * @param boundaries sequence numbers at which a persist may begin; a view, not copied
     * @param survivorRatio ratio of bytes after to bytes before the last compaction, in [0, 1]; 0
     *     before the first
     * @param goal target of compaction for this changelog
     * @param persists number of persists of this changelog so far
     */
    public CompactableChangelog(
            Collection<B> runs,
            SortedSet<Long> boundaries,
            double survivorRatio,
            CompactionGoal goal,
            long persists) {
        this.runs = runs;
        this.boundaries = boundaries;
        this.survivorRatio = survivorRatio;
        this.goal = goal;
        this.persists = persists;
    }

    Collection<B> runs() {
        return runs;
    }

    SortedSet<Long> boundaries() {
        return boundaries;
    }

    double survivorRatio() {
        return survivorRatio;
    }

    CompactionGoal goal() {
        return goal;
    }

    long persists() {
        return persists;
    }
}
