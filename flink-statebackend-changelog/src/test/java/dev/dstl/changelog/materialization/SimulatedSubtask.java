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

package dev.dstl.changelog.materialization;

import dev.dstl.changelog.config.ChangelogBackendOptions;
import dev.dstl.changelog.config.LogLimits;
import dev.dstl.changelog.config.TaskConfiguration;
import dev.dstl.changelog.metrics.RestoreRate;
import dev.dstl.log.compaction.SimulatedChangelog;
import dev.dstl.log.testing.ManualTimers;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * The checkpoints of a subtask, of which only sizes and durations exist. When to compact and when
 * to materialize for the size of the changelog is decided by the product.
 */
final class SimulatedSubtask {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);
    private static final long MIN_LOG_BYTES = 8 << 20;

    /** The smallest changelog whose replay is measured. */
    static final long LEAST_MEASURED_BYTES = 4 << 20;

    private static final double DEFAULT_TIME_FRACTION =
            ChangelogBackendOptions.MATERIALIZE_MAX_TIME_FRACTION.defaultValue();

    private final Random random;
    private final double maxTimeFraction;
    private final long intervalMillis;
    private final double meanBytes;
    private final double noise;
    private final double newFraction;
    private final long latencyMillis;
    private final double bytesPerMilli;
    private final String description;

    private final ManualTimers timers = new ManualTimers();
    private final SimulatedChangelog changelog;
    private final MaterializationThrottle throttle;
    private final EarlyMaterialization early;

    /** Bytes appended by the latest checkpoints, newest first. */
    private final long[] appended = new long[12];

    private int compactions;
    private int checkpointsSinceCompaction = appended.length;

    private long stateBytes;

    /** Probability that a materialization compacts level 0, which RocksDB else does after four. */
    private final double compacted;

    private int levelZeroFiles;
    private long obsoleteBytes;
    private long loggedBytesBefore;
    private long stateBytesBefore;

    private long baseBytes;
    private long baseId;
    private boolean materializing;
    private long loggedBytes;
    private long materializedBytes;
    private int materializations;
    private long largestBytes;

    private long ruleBytes;
    private long formerRuleBytes;

    /** Whether a materialization runs or its pause lasts. */
    private boolean busy;

    private long busyFromMillis;
    private long busyBytes;
    private long bytesBeforeBusy;
    private long baseIdBeforeBusy;
    private long lastMillis;

    private SimulatedSubtask(
            Random random,
            double maxTimeFraction,
            int slowRestores,
            long stateBytes,
            double meanBytes,
            double noise,
            double survivors,
            double newFraction,
            long intervalMillis,
            long latencyMillis,
            double bytesPerMilli,
            double compacted) {
        this.random = random;
        this.maxTimeFraction = maxTimeFraction;
        this.stateBytes = stateBytes;
        this.stateBytesBefore = stateBytes;
        this.baseBytes = stateBytes;
        this.compacted = compacted;
        this.meanBytes = meanBytes;
        this.noise = noise;
        this.newFraction = newFraction;
        this.intervalMillis = intervalMillis;
        this.latencyMillis = latencyMillis;
        this.bytesPerMilli = bytesPerMilli;
        this.description =
                String.format(
                        "%d slow restores, state %d, %.0f bytes +- %.2f per checkpoint, survivors"
                                + " %.2f, new %.2f, every %d ms, store %d ms and %.0f bytes/ms,"
                                + " time %.1f, level 0 compacted %.2f",
                        slowRestores,
                        stateBytes,
                        meanBytes,
                        noise,
                        survivors,
                        newFraction,
                        intervalMillis,
                        latencyMillis,
                        bytesPerMilli,
                        maxTimeFraction,
                        compacted);
        this.changelog =
                new SimulatedChangelog(
                        timers,
                        16,
                        32,
                        32 << 20,
                        () -> survivors * (0.8 + 0.4 * random.nextDouble()),
                        logUniform(random, 1e4, 1e6));
        changelog.truncate(changelog.addBoundary(), baseBytes);
        Configuration ofSize = new Configuration();
        if (slowRestores == 0) {
            ofSize.setString("state.changelog.dstl.materialize.replay-time", "0 s");
        }
        ofSize.setString("state.changelog.dstl.materialize.max-runs", "0");
        ofSize.setString(
                "state.changelog.dstl.materialize.max-time-fraction",
                Double.toString(maxTimeFraction));
        LogLimits limits = LogLimits.of(new TaskConfiguration(ofSize, ofSize));
        RestoreRate changelogRate = new RestoreRate(16 << 20, LEAST_MEASURED_BYTES);
        for (int restore = 0; restore < slowRestores; restore++) {
            changelogRate.measured(5 << 20, TimeUnit.SECONDS.toNanos(75));
        }
        this.throttle = new MaterializationThrottle(limits.maxTimeFraction(), timers::nanoTime);
        this.early =
                new EarlyMaterialization(
                        limits,
                        0,
                        false,
                        changelogRate,
                        RestoreRate.ofBases(),
                        this::materialize,
                        throttle,
                        timers::nanoTime);
    }

    /** Returns a random job on a random store. */
    static SimulatedSubtask random(Random random) {
        return random(random, DEFAULT_TIME_FRACTION);
    }

    /** Returns a random job on a random store, with a share of the time for materializations. */
    static SimulatedSubtask random(Random random, double maxTimeFraction) {
        return random(
                random, maxTimeFraction, 0, 1 + random.nextInt(500), logUniform(random, 1e3, 1e6));
    }

    /**
     * Returns a random job in a process in which reads have hung during some restores, one for each
     * task that was restored.
     */
    static SimulatedSubtask afterSlowRestores(Random random) {
        return random(
                random,
                DEFAULT_TIME_FRACTION,
                1 + random.nextInt(20),
                1 + random.nextInt(500),
                logUniform(random, 1e3, 1e6));
    }

    /** Returns a random job whose materialization and pause fit between two checkpoints. */
    static SimulatedSubtask withFastStore(Random random) {
        return random(random, DEFAULT_TIME_FRACTION, 0, 1, 1e15);
    }

    private static SimulatedSubtask random(
            Random random,
            double maxTimeFraction,
            int slowRestores,
            long latencyMillis,
            double bytesPerMilli) {
        return new SimulatedSubtask(
                random,
                maxTimeFraction,
                slowRestores,
                random.nextInt(4) == 0 ? 0 : (long) logUniform(random, 1e3, 1e9),
                logUniform(random, 1e3, 1e8),
                0.3 * random.nextDouble(),
                random.nextDouble(),
                random.nextBoolean() ? 0 : random.nextDouble(),
                (long) logUniform(random, 100, 10_000),
                latencyMillis,
                bytesPerMilli,
                random.nextBoolean() ? 1 : random.nextDouble());
    }

    /** Returns a job with identical checkpoints, one every second. */
    static SimulatedSubtask steady(
            long stateBytes, long checkpointBytes, double survivors, long materializationMillis) {
        return steady(0, stateBytes, checkpointBytes, survivors, materializationMillis);
    }

    /** Returns such a job in a process in which reads have hung during some restores. */
    static SimulatedSubtask steady(
            int slowRestores,
            long stateBytes,
            long checkpointBytes,
            double survivors,
            long materializationMillis) {
        return new SimulatedSubtask(
                new Random(0),
                DEFAULT_TIME_FRACTION,
                slowRestores,
                stateBytes,
                (double) checkpointBytes,
                0,
                survivors,
                0,
                1_000,
                materializationMillis,
                1e15,
                1);
    }

    private static double logUniform(Random random, double from, double to) {
        return from * Math.pow(to / from, random.nextDouble());
    }

    /** Advances time, appends state changes and takes a checkpoint. */
    void checkpoint() {
        timers.advanceMillis(intervalMillis);
        long bytes = 1 + (long) (meanBytes * (1 + noise * (2 * random.nextDouble() - 1)));
        loggedBytes += bytes;
        busyBytes += bytes;
        stateBytes += (long) (newFraction * bytes);
        System.arraycopy(appended, 0, appended, 1, appended.length - 1);
        appended[0] = bytes;
        changelog.checkpoint(bytes);
        checkpointsSinceCompaction =
                changelog.compactions() > compactions ? 0 : checkpointsSinceCompaction + 1;
        compactions = changelog.compactions();
        largestBytes = Math.max(largestBytes, changelog.bytes());
        applyRule();

        boolean mayBegin = !materializing && throttle.hasTime();
        int before = materializations;
        long formerBusyBytes = busy ? busyBytes : 0;
        early.checkpointAssembled(handle());
        if (materializations > before) {
            busy = true;
            busyFromMillis = nowMillis();
            baseIdBeforeBusy = baseId;
            bytesBeforeBusy = Math.max(formerBusyBytes, ruleBytes());
            busyBytes = 0;
        } else if (mayBegin) {
            busy = false;
        }
    }

    private void applyRule() {
        long rule =
                Math.max(
                        Math.max(baseBytes / 2, 4 * largest(0, isEstimated() ? 12 : 4)),
                        MIN_LOG_BYTES);
        // What a checkpoint writes, or the base, may shrink at this very checkpoint.
        ruleBytes = Math.max(rule, formerRuleBytes);
        formerRuleBytes = busy ? ruleBytes : rule;
    }

    /** Whether the appended bytes are estimated, as a compaction has ended recently. */
    private boolean isEstimated() {
        return checkpointsSinceCompaction < appended.length;
    }

    private long largest(int from, int to) {
        return Arrays.stream(appended, from, to).max().orElseThrow();
    }

    private void materialize() {
        if (materializing) {
            return;
        }
        materializing = true;
        materializations++;
        long bytes = stateBytes + obsoleteBytes();
        materializedBytes += bytes;
        lastMillis = latencyMillis + (long) (bytes / bytesPerMilli);
        long boundary = changelog.addBoundary();
        timers.schedule(() -> materialized(boundary, bytes), lastMillis);
    }

    /** What the files of a new base contain that is not the last value of a key. */
    private long obsoleteBytes() {
        obsoleteBytes += loggedBytes - loggedBytesBefore - (stateBytes - stateBytesBefore);
        loggedBytesBefore = loggedBytes;
        stateBytesBefore = stateBytes;
        if (++levelZeroFiles == 4 || random.nextDouble() < compacted) {
            levelZeroFiles = 0;
            obsoleteBytes = 0;
        }
        return obsoleteBytes;
    }

    private void materialized(long boundary, long bytes) {
        materializing = false;
        baseBytes = bytes;
        baseId++;
        changelog.truncate(boundary, bytes);
        throttle.ended(TimeUnit.MILLISECONDS.toNanos(lastMillis));
    }

    private ChangelogStateBackendHandle handle() {
        List<Tuple2<StreamStateHandle, Long>> segments =
                List.of(Tuple2.of(new ByteStreamStateHandle("segment", new byte[0]), 0L));
        long newBytes = changelog.takeNewBytes();
        return new ChangelogStateBackendHandleImpl(
                List.of(
                        new KeyGroupsStateHandle(
                                new KeyGroupRangeOffsets(KEY_GROUPS),
                                new FileStateHandle(new Path("/base"), baseBytes))),
                List.of(
                        new ChangelogStateHandleStreamImpl(
                                segments, KEY_GROUPS, changelog.bytes(), newBytes, "dstl")),
                KEY_GROUPS,
                1,
                baseId,
                newBytes);
    }

    private long nowMillis() {
        return TimeUnit.NANOSECONDS.toMillis(timers.nanoTime());
    }

    /** Changelog size of the last checkpoint. */
    long changelogBytes() {
        return changelog.bytes();
    }

    /** Limit of the rule, plus the excess of a checkpoint over the estimate. */
    long ruleBytes() {
        long expected = isEstimated() ? Arrays.stream(appended).min().orElseThrow() : largest(1, 5);
        return ruleBytes + Math.max(0, appended[0] - expected);
    }

    /** The same, plus the bytes appended while no other materialization could begin. */
    long allowedBytes() {
        if (!busy) {
            return ruleBytes();
        }
        return baseId == baseIdBeforeBusy
                ? Math.max(ruleBytes(), bytesBeforeBusy) + busyBytes
                : Math.max(ruleBytes(), busyBytes);
    }

    /** Time during which no materialization could begin. */
    long busyMillis() {
        return busy ? nowMillis() - busyFromMillis : 0;
    }

    /** Longest such time: a materialization, its pause, and the wait for the next checkpoint. */
    long longestBusyMillis() {
        return Math.round(lastMillis / maxTimeFraction) + intervalMillis;
    }

    long loggedBytes() {
        return loggedBytes;
    }

    long materializedBytes() {
        return materializedBytes;
    }

    int materializations() {
        return materializations;
    }

    int compactions() {
        return changelog.compactions();
    }

    long largestChangelogBytes() {
        return largestBytes;
    }

    @Override
    public String toString() {
        return description;
    }
}
