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
 * <p>Copying large batches costs bandwidth and processor time, and they are few for their bytes.
 * They are merged where that saves bytes, as long as it does not take too much of the time, and
 * whenever there are many of them all the same, which happens when changes come faster than
 * materializations can follow.
 */
final class MergeRule {

    /** Fewer than this share of the batches is not worth a segment. */
    private static final int LEAST_SHARE = 4;

    private static final int FEW = 2;

    /** More batches than this become fewer at any price; half of what a handle should name. */
    private static final int CROWD = 32;

    /** A merge that keeps more than this share of its bytes only saves parts. */
    private static final double LITTLE_SAVED = 0.9;

    /** The share of the bound that is merged to save parts alone, or while there is no time. */
    private static final int TINY_SHARE = 32;

    private final int batches;
    private final long maxBytes;
    private final long maxMemoryBytes;

    /**
     * @param batches how many make one, at least 2
     * @param maxBytes in frames, of all batches that make one
     * @param maxMemoryBytes for the records of all batches that make one
     */
    MergeRule(int batches, long maxBytes, long maxMemoryBytes) {
        this.batches = batches;
        this.maxBytes = maxBytes;
        this.maxMemoryBytes = maxMemoryBytes;
    }

    /**
     * Chooses the batches to merge next.
     *
     * @param tail in order, without gaps
     * @param marks where a persist may begin
     * @param kept of the bytes of the last merge, in [0, 1]
     * @param rested whether merges have not taken their share of the time
     * @param persists of the log so far; a batch rests for some after a failure
     * @return empty if there is nothing to do
     */
    List<TailBatch> choose(
            Collection<TailBatch> tail,
            SortedSet<Long> marks,
            double kept,
            boolean rested,
            long persists) {
        boolean crowded = tail.size() > CROWD;
        boolean isWorthIt = kept <= LITTLE_SAVED && rested;
        long mostBytes = crowded || isWorthIt ? maxBytes : maxBytes / TINY_SHARE;
        List<TailBatch> run = new ArrayList<>(batches);
        for (TailBatch batch : tail) {
            boolean mergeable = batch.isMergeable(persists);
            if (!mergeable || !continues(run, batch, marks)) {
                // What stands alone between larger ones stays alone, so few will have to do.
                List<TailBatch> few = crowded ? fitting(run, mostBytes, FEW) : List.of();
                if (!few.isEmpty()) {
                    return few;
                }
                run.clear();
            }
            if (mergeable) {
                run.add(batch);
            }
            if (run.size() == batches) {
                List<TailBatch> fitting =
                        fitting(run, mostBytes, Math.max(FEW, batches / LEAST_SHARE));
                if (!fitting.isEmpty()) {
                    return fitting;
                }
                run.remove(0);
            }
        }
        return List.of();
    }

    private static boolean continues(List<TailBatch> run, TailBatch batch, SortedSet<Long> marks) {
        return run.isEmpty()
                || (run.get(0).level() == batch.level() && !marks.contains(batch.sequence()));
    }

    /**
     * The first batches of a run that fit together, or nothing if they are fewer than the least.
     */
    private List<TailBatch> fitting(List<TailBatch> run, long mostBytes, int least) {
        long bytes = 0;
        long memoryBytes = 0;
        int count = 0;
        for (TailBatch batch : run) {
            bytes += batch.position().frameBytes();
            memoryBytes += batch.memoryBytes();
            if (bytes > mostBytes || memoryBytes > maxMemoryBytes) {
                break;
            }
            count++;
        }
        return count < least ? List.of() : new ArrayList<>(run.subList(0, count));
    }
}
