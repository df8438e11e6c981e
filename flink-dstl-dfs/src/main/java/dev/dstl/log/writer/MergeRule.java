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

package dev.dstl.log.writer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;

/**
 * Chooses neighbouring batches that become one, so that the number of batches grows with the
 * logarithm of the number of checkpoints:
 *
 * <pre>
 *   level 2   level 1   level 1   0 0 0 0 0 0 0 0
 *                                 '------.------'
 *   level 2   level 1   level 1      level 1
 * </pre>
 *
 * <p>Only durable batches of one level are chosen, and none from both sides of a mark. With {@code
 * n} batches to a merge, each record is written again at most once per level, that is {@code
 * log_n(batches)} times, as in a size-tiered log-structured merge tree (O'Neil et al., 1996).
 *
 * <p>Large batches are few for their bytes and dear to copy. They are merged only when there are
 * many all the same, which happens when changes come faster than materializations can follow.
 */
final class MergeRule {

    /** Fewer than this share of the batches is not worth a segment. */
    private static final int LEAST_SHARE = 4;

    /** Up to this share of the bound, a merge is cheap enough to be worth it at any time. */
    private static final int CHEAP_SHARE = 4;

    /** So many batches that dear merges are worth it; half of what a handle should name at most. */
    private static final int CROWD = 32;

    private final int batches;
    private final long maxBytes;

    /**
     * @param batches how many make one, at least 2
     * @param maxBytes in frames, of all batches that make one
     */
    MergeRule(int batches, long maxBytes) {
        this.batches = batches;
        this.maxBytes = maxBytes;
    }

    /**
     * Chooses the batches to merge next.
     *
     * @param tail in order, without gaps
     * @param marks where a persist may begin
     * @return empty if there is nothing to do
     */
    List<TailBatch> choose(Collection<TailBatch> tail, SortedSet<Long> marks) {
        List<TailBatch> cheap = choose(tail, marks, maxBytes / CHEAP_SHARE);
        return cheap.isEmpty() && tail.size() > CROWD ? choose(tail, marks, maxBytes) : cheap;
    }

    private List<TailBatch> choose(
            Collection<TailBatch> tail, SortedSet<Long> marks, long mostBytes) {
        List<TailBatch> run = new ArrayList<>(batches);
        for (TailBatch batch : tail) {
            if (!batch.isMergeable()) {
                run.clear();
                continue;
            }
            if (!run.isEmpty()
                    && (run.get(0).level() != batch.level() || marks.contains(batch.sequence()))) {
                run.clear();
            }
            run.add(batch);
            if (run.size() == batches) {
                List<TailBatch> fitting = fitting(run, mostBytes);
                if (!fitting.isEmpty()) {
                    return fitting;
                }
                run.remove(0);
            }
        }
        return List.of();
    }

    private List<TailBatch> fitting(List<TailBatch> run, long mostBytes) {
        long bytes = 0;
        int count = 0;
        while (count < run.size() && bytes + run.get(count).position().frameBytes() <= mostBytes) {
            bytes += run.get(count).position().frameBytes();
            count++;
        }
        return count < Math.max(2, batches / LEAST_SHARE)
                ? List.of()
                : new ArrayList<>(run.subList(0, count));
    }
}
