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

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;

/**
 * Chooses neighbouring runs that become one, so that the number of runs grows with the logarithm of
 * the number of checkpoints:
 *
 * <pre>
 *   level 2   level 1   level 1   0 0 0 0 0 0 0 0
 *                                 '------.------'
 *   level 2   level 1   level 1      level 1
 * </pre>
 *
 * <p>Only durable runs of one level are chosen, and none from both sides of a compaction boundary,
 * where a persist may begin. With {@code n} runs to a compaction, each record is written again at
 * most once per level, that is {@code log_n(runs)} times, as in a size-tiered log-structured merge
 * tree (O'Neil et al., 1996).
 *
 * <p>Copying large runs costs bandwidth and CPU time, and they are few for their bytes. They are
 * compacted where that saves bytes, as long as it does not take too much of the time, and whenever
 * there are many of them all the same, which happens when state changes come faster than
 * materializations can follow. Immutable.
 */
final class CompactionPolicy {

    /** Fewer than the usual number of inputs over this is not worth a segment. */
    private static final int MIN_INPUTS_SHARE = 4;

    private static final int MIN_INPUTS = 2;

    /** More runs than this become fewer at any price; half of what a handle should name. */
    private static final int RUN_LIMIT = 32;

    /**
     * What has as many runs of level 0 as this share of the usual number of inputs joins others, so
     * that the changelogs of a TaskManager are soon compacted at the same checkpoints.
     */
    private static final int JOINING_SHARE = 2;

    /** Above this ratio of bytes after to bytes before, a compaction only saves runs. */
    private static final double MAX_SURVIVOR_RATIO = 0.9;

    /** The share of the bound that is compacted to save runs alone, or while there is no time. */
    private static final int SMALL_SHARE = 32;

    private final int inputs;
    private final long maxBytes;
    private final long maxMemoryBytes;

    /**
     * @param inputs how many make one, at least 2
     * @param maxBytes in frames, of all inputs together
     * @param maxMemoryBytes for the records of all inputs together
     */
    CompactionPolicy(int inputs, long maxBytes, long maxMemoryBytes) {
        this.inputs = inputs;
        this.maxBytes = maxBytes;
        this.maxMemoryBytes = maxMemoryBytes;
    }

    /**
     * Chooses the runs to compact next.
     *
     * @param runs in order, without gaps
     * @param boundaries where a persist may begin
     * @param survivorRatio bytes after to bytes before of the last compaction, in [0, 1]
     * @param hasTime whether compactions have not taken their share of the time
     * @param joins whether the output would share its segment with others
     * @param persists of the changelog so far
     * @return empty if there is nothing to do
     */
    <B extends CompactionInput> List<B> choose(
            Collection<B> runs,
            SortedSet<Long> boundaries,
            double survivorRatio,
            boolean hasTime,
            boolean joins,
            long persists) {
        boolean tooMany = runs.size() > RUN_LIMIT;
        boolean savesBytes = survivorRatio <= MAX_SURVIVOR_RATIO && hasTime;
        long bound = tooMany || savesBytes ? maxBytes : maxBytes / SMALL_SHARE;
        List<B> chosen = new ArrayList<>(inputs);
        for (B run : runs) {
            boolean compactable = run.isCompactable(persists);
            if (!compactable || !continues(chosen, run, boundaries)) {
                // What stands alone between larger ones stays alone, so few will have to do.
                List<B> few =
                        tooMany
                                ? fitting(chosen, bound, MIN_INPUTS)
                                : joining(chosen, bound, joins);
                if (!few.isEmpty()) {
                    return few;
                }
                chosen.clear();
            }
            if (compactable) {
                chosen.add(run);
            }
            if (chosen.size() == inputs) {
                List<B> fitting =
                        fitting(chosen, bound, Math.max(MIN_INPUTS, inputs / MIN_INPUTS_SHARE));
                if (!fitting.isEmpty()) {
                    return fitting;
                }
                chosen.remove(0);
            }
        }
        return joining(chosen, bound, joins);
    }

    private <B extends CompactionInput> List<B> joining(List<B> chosen, long bound, boolean joins) {
        return joins && !chosen.isEmpty() && chosen.get(0).level() == 0
                ? fitting(chosen, bound, Math.max(MIN_INPUTS, inputs / JOINING_SHARE))
                : List.of();
    }

    private static <B extends CompactionInput> boolean continues(
            List<B> chosen, B run, SortedSet<Long> boundaries) {
        return chosen.isEmpty()
                || (chosen.get(0).level() == run.level() && !boundaries.contains(run.sequence()));
    }

    /** The first runs that fit together, or nothing if they are fewer than the least. */
    private <B extends CompactionInput> List<B> fitting(List<B> runs, long bound, int least) {
        long bytes = 0;
        long memoryBytes = 0;
        int count = 0;
        for (B run : runs) {
            bytes += run.position().frameBytes();
            memoryBytes += run.memoryBytes();
            if (bytes > bound || memoryBytes > maxMemoryBytes) {
                break;
            }
            count++;
        }
        return count < least ? List.of() : new ArrayList<>(runs.subList(0, count));
    }
}
