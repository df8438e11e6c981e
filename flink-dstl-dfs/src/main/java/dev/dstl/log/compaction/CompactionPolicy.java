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

import dev.dstl.log.config.DstlSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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
 * <p>Only durable runs are chosen, and none from both sides of a compaction boundary, where a
 * persist may begin. They are of one level, unless there are more than {@value #RUN_LIMIT} and no
 * two neighbours of one level fit together: then neighbours of any levels are chosen, so that in
 * the end no two are left that would fit. With {@code n} runs to a compaction, each record is
 * written again at most once per level, that is {@code log_n(runs)} times, as in a size-tiered
 * log-structured merge tree (O'Neil et al., 1996).
 *
 * <p>Copying large runs costs bandwidth and CPU time, and they are few for their bytes. They are
 * compacted where that saves bytes, as long as it does not take too much of the time, and whenever
 * there are many of them all the same, which happens when state changes come faster than
 * materializations can follow.
 *
 * <p>Fewer runs than usual are compacted when they are large for their base and compaction saves
 * more bytes per byte it copies than a new base would: the changelog then need not be materialized
 * for its size. Immutable.
 */
final class CompactionPolicy {

    /**
     * Divisor of the usual number of inputs: where the bound leaves fewer, the output does not
     * justify a segment.
     */
    private static final int MIN_INPUTS_SHARE = 4;

    private static final int MIN_INPUTS = 2;

    /** Above this number of runs, runs are compacted whatever it costs. */
    static final int RUN_LIMIT = DstlSettings.MAX_RUN_LIMIT;

    /**
     * Divisor of the usual number of inputs: with so many runs of level 0, a changelog joins the
     * compactions of others, so that all changelogs of a TaskManager are soon compacted at the same
     * checkpoints.
     */
    private static final int JOINING_SHARE = 2;

    /**
     * Above this ratio of bytes after to bytes before, compaction saves runs but hardly any bytes.
     */
    private static final double MAX_SURVIVOR_RATIO = 0.9;

    /**
     * Divisor of the maximum size for compactions that only reduce the number of runs, or for which
     * there is no time.
     */
    private static final int SMALL_SHARE = 32;

    /**
     * Divisor of the base size above which uncompacted runs are large: half of the size at which
     * the changelog materializes early, since compaction at that size would come too late.
     */
    private static final int BASE_SHARE = 4;

    /**
     * Divisor of the maximum size below which the size of a changelog does not justify a request.
     */
    private static final int LARGE_SHARE = 8;

    private final int inputs;
    private final long maxBytes;
    private final long maxMemoryBytes;

    /**
     * Creates a policy.
     *
     * @param inputs usual number of inputs of a compaction, at least 2; lower in changelogs with a
     *     lower run limit
     * @param maxBytes maximum total size of the inputs' frames
     * @param maxMemoryBytes maximum memory for the records of all inputs
     */
    CompactionPolicy(int inputs, long maxBytes, long maxMemoryBytes) {
        this.inputs = inputs;
        this.maxBytes = maxBytes;
        this.maxMemoryBytes = maxMemoryBytes;
    }

    /**
     * Chooses the runs to compact next.
     *
     * @param hasTime whether compactions have not used up their share of the time
     * @param joins whether the output would share a segment with others
     * @return at least two neighbouring runs in order, or empty if there is nothing to do
     */
    <B extends CompactionInput> List<B> choose(
            CompactableChangelog<B> changelog, boolean hasTime, boolean joins) {
        int runLimit = changelog.goal().runLimit();
        int width = width(runLimit);
        boolean tooMany = changelog.runs().size() > runLimit;
        boolean saves = tooMany || changelog.survivorRatio() <= MAX_SURVIVOR_RATIO;
        boolean atAnyPrice = changelog.runs().size() > RUN_LIMIT;
        long bound = atAnyPrice || (saves && hasTime) ? maxBytes : maxBytes / SMALL_SHARE;
        long sizeFrom = hasTime ? largeForBaseFrom(changelog) : Long.MAX_VALUE;
        List<B> chosen = new ArrayList<>(width);
        for (B run : changelog.runs()) {
            boolean compactable = run.isCompactable(changelog.persists());
            if (!compactable || !continues(chosen, run, changelog.boundaries())) {
                // Runs between others of a different level get no more neighbours of their own.
                List<B> few =
                        tooMany
                                ? fitting(chosen, bound, MIN_INPUTS)
                                : few(chosen, bound, joins, width, sizeFrom);
                if (!few.isEmpty()) {
                    return few;
                }
                chosen.clear();
            }
            if (compactable) {
                chosen.add(run);
            }
            if (chosen.size() == width) {
                List<B> fitting =
                        fitting(chosen, bound, Math.max(MIN_INPUTS, width / MIN_INPUTS_SHARE));
                if (!fitting.isEmpty()) {
                    return fitting;
                }
                chosen.remove(0);
            }
        }
        List<B> few = few(chosen, bound, joins, width, sizeFrom);
        return few.isEmpty() && atAnyPrice ? ofAnyLevel(changelog, bound, width) : few;
    }

    /**
     * Returns the longest sequence of neighbours that fit together; of several, that with the
     * fewest bytes.
     */
    private <B extends CompactionInput> List<B> ofAnyLevel(
            CompactableChangelog<B> changelog, long bound, int width) {
        List<B> best = List.of();
        long bestBytes = Long.MAX_VALUE;
        Deque<B> neighbours = new ArrayDeque<>(width + 1);
        long bytes = 0;
        long memoryBytes = 0;
        for (B run : changelog.runs()) {
            boolean compactable = run.isCompactable(changelog.persists());
            if (!compactable || changelog.boundaries().contains(run.sequence())) {
                neighbours.clear();
                bytes = 0;
                memoryBytes = 0;
            }
            if (!compactable) {
                continue;
            }
            neighbours.add(run);
            bytes += run.frameBytes();
            memoryBytes += run.memoryBytes();
            while (neighbours.size() > width || bytes > bound || memoryBytes > maxMemoryBytes) {
                B first = neighbours.remove();
                bytes -= first.frameBytes();
                memoryBytes -= first.memoryBytes();
            }
            boolean more = neighbours.size() > best.size();
            boolean smaller = neighbours.size() == best.size() && bytes < bestBytes;
            if (neighbours.size() >= MIN_INPUTS && (more || smaller)) {
                best = new ArrayList<>(neighbours);
                bestBytes = bytes;
            }
        }
        return best;
    }

    /** Returns the number of inputs, reduced in proportion to the run limit. */
    private int width(int runLimit) {
        return Math.max(MIN_INPUTS, inputs * Math.min(runLimit, RUN_LIMIT) / RUN_LIMIT);
    }

    /**
     * Returns the sequence number from which uncompacted runs are large for their base and
     * compaction is cheaper than a new base. Runs before a boundary will be truncated with the next
     * base anyway.
     *
     * @return {@code Long.MAX_VALUE} if there is none
     */
    private long largeForBaseFrom(CompactableChangelog<?> changelog) {
        long from = changelog.boundaries().isEmpty() ? 0 : changelog.boundaries().last();
        long base = changelog.goal().baseBytes();
        long bytes = 0;
        long uncompactedBytes = 0;
        for (CompactionInput run : changelog.runs()) {
            if (run.sequence() >= from && run.isCompactable(changelog.persists())) {
                bytes += run.frameBytes();
                uncompactedBytes += run.level() == 0 ? run.frameBytes() : 0;
            }
        }
        double ratio = changelog.survivorRatio();
        // A compaction copies (1 + ratio) per byte to save (1 - ratio), a base copies itself to
        // save all.
        boolean cheaper = (1 - ratio) * base > (1 + ratio) * bytes;
        boolean large = uncompactedBytes > Math.max(base / BASE_SHARE, maxBytes / LARGE_SHARE);
        return cheaper && large ? from : Long.MAX_VALUE;
    }

    /**
     * Returns fewer inputs than usual, if a shared segment or the size of the changelog justifies
     * it.
     */
    private <B extends CompactionInput> List<B> few(
            List<B> chosen, long bound, boolean joins, int width, long sizeFrom) {
        if (chosen.isEmpty() || chosen.get(0).level() > 0) {
            return List.of();
        }
        if (chosen.get(0).sequence() >= sizeFrom) {
            return fitting(chosen, maxBytes, MIN_INPUTS);
        }
        return joins
                ? fitting(chosen, bound, Math.max(MIN_INPUTS, width / JOINING_SHARE))
                : List.of();
    }

    private static <B extends CompactionInput> boolean continues(
            List<B> chosen, B run, SortedSet<Long> boundaries) {
        return chosen.isEmpty()
                || (chosen.get(0).level() == run.level() && !boundaries.contains(run.sequence()));
    }

    /**
     * Returns the first runs that fit together, or nothing if they are fewer than {@code least}.
     */
    private <B extends CompactionInput> List<B> fitting(List<B> runs, long bound, int least) {
        long bytes = 0;
        long memoryBytes = 0;
        int count = 0;
        for (B run : runs) {
            bytes += run.frameBytes();
            memoryBytes += run.memoryBytes();
            if (bytes > bound || memoryBytes > maxMemoryBytes) {
                break;
            }
            count++;
        }
        return count < least ? List.of() : new ArrayList<>(runs.subList(0, count));
    }
}
