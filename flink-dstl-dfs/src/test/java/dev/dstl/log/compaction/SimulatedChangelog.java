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

import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.testing.ManualTimers;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.DoubleSupplier;

/**
 * A changelog that consists of sizes only. DSTL's policy and throttle choose its compactions; the
 * caller determines survivor ratio and duration.
 */
public final class SimulatedChangelog {

    private static final long MEMORY_BYTES = Long.MAX_VALUE / 2;

    private final ManualTimers timers;
    private final CompactionPolicy policy;
    private final CompactionThrottle throttle;
    private final CompactionGoal goal;
    private final DoubleSupplier survivors;
    private final double bytesPerMilli;

    private final TreeMap<Long, Run> runs = new TreeMap<>();
    private final TreeSet<Long> boundaries = new TreeSet<>();
    private double survivorRatio;
    private long nextSequence;
    private long persists;
    private boolean compacting;
    private long newBytes;
    private long largeReadMillis;
    private long copiedBytes;
    private int maxLevel;
    private int compactions;

    /**
     * Starts empty, with a boundary where it begins.
     *
     * @param minRuns to a compaction, with the highest run limit
     * @param maxBytes of a compaction
     * @param survivors of a byte that is compacted, in [0, 1]; asked once per compaction
     * @param bytesPerMilli that are read, positive
     */
    public SimulatedChangelog(
            ManualTimers timers,
            int minRuns,
            int runLimit,
            long maxBytes,
            DoubleSupplier survivors,
            double bytesPerMilli) {
        this.timers = timers;
        this.policy = new CompactionPolicy(minRuns, maxBytes, MEMORY_BYTES);
        this.throttle = new CompactionThrottle(timers);
        this.goal = new CompactionGoal(runLimit);
        this.survivors = survivors;
        this.bytesPerMilli = bytesPerMilli;
        boundaries.add(0L);
    }

    /** A checkpoint appends a run, and compaction may begin. */
    public void checkpoint(long bytes) {
        add(new Run(nextSequence++, 0, bytes));
        persists++;
        compact();
    }

    private void add(Run run) {
        runs.put(run.sequence, run);
        newBytes += run.bytes;
    }

    /**
     * A base begins to be taken that covers everything so far.
     *
     * @return where
     */
    public long addBoundary() {
        boundaries.add(nextSequence);
        return nextSequence;
    }

    /** Truncates the changelog up to a boundary, as a new base covers it. */
    public void truncate(long boundary, long baseBytes) {
        runs.headMap(boundary).clear();
        boundaries.headSet(boundary).clear();
        goal.setBaseBytes(baseBytes);
    }

    /** Size of all runs. */
    public long bytes() {
        return runs.values().stream().mapToLong(run -> run.bytes).sum();
    }

    /** Number of runs. */
    public int runCount() {
        return runs.size();
    }

    /** Size of the runs added since the last call. */
    public long takeNewBytes() {
        long bytes = newBytes;
        newBytes = 0;
        return bytes;
    }

    /** Bytes read and written by compactions. */
    public long copiedBytes() {
        return copiedBytes;
    }

    /** Time of compactions of large runs, running ones included. */
    public long largeReadMillis() {
        return largeReadMillis;
    }

    /** Highest level: how often a byte was compacted at most. */
    public int maxLevel() {
        return maxLevel;
    }

    /** Number of compactions so far. */
    public int compactions() {
        return compactions;
    }

    private void compact() {
        if (compacting) {
            return;
        }
        boolean hasTime = throttle.hasTime();
        boolean anyPrice = runs.size() > CompactionPolicy.RUN_LIMIT;
        List<Run> inputs = policy.choose(changelog(), hasTime, false);
        if (inputs.isEmpty()) {
            return;
        }
        compacting = true;
        long bytes = inputs.stream().mapToLong(run -> run.bytes).sum();
        long millis = 1 + (long) (bytes / bytesPerMilli);
        largeReadMillis +=
                !anyPrice && policy.choose(changelog(), false, false).isEmpty() ? millis : 0;
        long start = timers.nanoTime();
        timers.schedule(() -> compacted(inputs, bytes, start), millis);
    }

    private CompactableChangelog<Run> changelog() {
        return new CompactableChangelog<>(runs.values(), boundaries, survivorRatio, goal, persists);
    }

    private void compacted(List<Run> inputs, long bytes, long startNanos) {
        throttle.worked(startNanos);
        compacting = false;
        compactions++;
        survivorRatio = Math.min(1, Math.max(0, survivors.getAsDouble()));
        Run output =
                new Run(
                        inputs.get(0).sequence,
                        1 + inputs.stream().mapToInt(Run::level).max().orElseThrow(),
                        Math.max(1, (long) (survivorRatio * bytes)));
        copiedBytes += bytes + output.bytes;
        maxLevel = Math.max(maxLevel, output.level);
        if (runs.get(output.sequence) == inputs.get(0)) {
            inputs.forEach(run -> runs.remove(run.sequence));
            add(output);
            compact();
        }
    }

    private static final class Run implements CompactionInput {

        private final long sequence;
        private final int level;
        private final long bytes;

        Run(long sequence, int level, long bytes) {
            this.sequence = sequence;
            this.level = level;
            this.bytes = bytes;
        }

        @Override
        public long sequence() {
            return sequence;
        }

        @Override
        public int level() {
            return level;
        }

        @Override
        public BatchPosition position() {
            throw new UnsupportedOperationException("Only sizes exist");
        }

        @Override
        public long frameBytes() {
            return bytes;
        }

        @Override
        public long memoryBytes() {
            return bytes;
        }

        @Override
        public boolean isCompactable(long persists) {
            return true;
        }
    }
}
