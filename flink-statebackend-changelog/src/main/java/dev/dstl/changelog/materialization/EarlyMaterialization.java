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

import dev.dstl.changelog.config.LogLimits;
import dev.dstl.changelog.metrics.RestoreRate;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.annotation.concurrent.GuardedBy;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * Triggers an early materialization when the changelog of a checkpoint exceeds a limit, or would
 * exceed it with the next checkpoint, within the configured fraction of time. Until a checkpoint
 * has a new base, it triggers again only after a growing pause. Thread-safe; triggers on the thread
 * that assembled the checkpoint.
 */
public final class EarlyMaterialization {

    private static final long NONE = Long.MIN_VALUE;
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(30);

    private final LogLimits limits;
    private final long bytesOfUnknownSize;
    private final boolean basesOmitTimers;
    private final RestoreRate changelogRate;
    private final RestoreRate baseRate;
    private final Runnable materialize;
    private final MaterializationThrottle throttle;
    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private final CheckpointSizes sizes = new CheckpointSizes();

    /** Base of the latest checkpoint. */
    @GuardedBy("this")
    private long latestBase = NONE;

    /** What a new base would not remove from the changelog. */
    @GuardedBy("this")
    private long staysBytes;

    @GuardedBy("this")
    private boolean asked;

    @GuardedBy("this")
    private long askedForBase;

    @GuardedBy("this")
    private long pauseNanos;

    @GuardedBy("this")
    private long notBeforeNanos;

    /**
     * Creates a trigger.
     *
     * @param bytesOfUnknownSize what the restored changelogs take whose handles have the size 0
     * @param basesOmitTimers whether all timers are in the changelog again behind each new base;
     *     the first checkpoint with a base tells how much that is
     * @param changelogRate at which a restore replays the changelog
     * @param baseRate at which a restore loads the base
     * @param materialize requests a materialization; must not block
     * @param throttle of the subtask
     * @param nanoTime a monotonic clock
     */
    public EarlyMaterialization(
            LogLimits limits,
            long bytesOfUnknownSize,
            boolean basesOmitTimers,
            RestoreRate changelogRate,
            RestoreRate baseRate,
            Runnable materialize,
            MaterializationThrottle throttle,
            LongSupplier nanoTime) {
        this.limits = limits;
        this.bytesOfUnknownSize = bytesOfUnknownSize;
        this.basesOmitTimers = basesOmitTimers;
        this.changelogRate = changelogRate;
        this.baseRate = baseRate;
        this.materialize = materialize;
        this.throttle = throttle;
        this.nanoTime = nanoTime;
    }

    /** Checks a checkpoint that is about to be sent to the JobManager. */
    public void checkpointAssembled(ChangelogStateBackendHandle checkpoint) {
        if (isDue(checkpoint)) {
            materialize.run();
        }
    }

    private synchronized boolean isDue(ChangelogStateBackendHandle checkpoint) {
        long now = nanoTime.getAsLong();
        long base = checkpoint.getMaterializationID();
        long logBytes = logBytes(checkpoint.getNonMaterializedStateHandles());
        sizes.add(checkpoint, logBytes);
        if (base != latestBase) {
            // The changelog behind a restored base is that of all its checkpoints.
            staysBytes = basesOmitTimers && latestBase != NONE ? logBytes : 0;
            latestBase = base;
        }
        asked &= base <= askedForBase;
        if ((asked && now - notBeforeNanos < 0)
                || !throttle.hasTime()
                || !isTooLong(checkpoint, Math.max(0, logBytes - staysBytes))) {
            return false;
        }
        pauseNanos = asked ? Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS) : FIRST_PAUSE_NANOS;
        notBeforeNanos = now + pauseNanos;
        asked = true;
        askedForBase = base;
        return true;
    }

    /**
     * @param logBytes of the changelog that a new base would remove
     */
    @GuardedBy("this")
    private boolean isTooLong(ChangelogStateBackendHandle checkpoint, long logBytes) {
        int parts = 0;
        for (ChangelogStateHandle log : checkpoint.getNonMaterializedStateHandles()) {
            parts += parts(log);
        }
        long baseBytes = bytes(checkpoint.getMaterializedStateHandles());
        return limits.exceeded(
                logBytes,
                parts,
                baseBytes,
                sizes.largest(),
                replaySeconds(logBytes),
                baseRate.seconds(baseBytes));
    }

    /**
     * Returns 0 for a changelog too small for a restore to measure the rate: if the rate was wrong,
     * shorter and shorter changelogs would keep it so.
     */
    private double replaySeconds(long logBytes) {
        return changelogRate.measures(logBytes) ? changelogRate.seconds(logBytes) : 0;
    }

    private long logBytes(Iterable<ChangelogStateHandle> logs) {
        boolean hasUnknown = false;
        for (ChangelogStateHandle log : logs) {
            hasUnknown |= log.getStateSize() == 0 && parts(log) > 0;
        }
        return bytes(logs) + (hasUnknown ? bytesOfUnknownSize : 0);
    }

    private static int parts(ChangelogStateHandle log) {
        return log instanceof ChangelogStateHandleStreamImpl
                ? ((ChangelogStateHandleStreamImpl) log).getHandlesAndOffsets().size()
                : 1;
    }

    private static long bytes(Iterable<? extends StateObject> handles) {
        long bytes = 0;
        for (StateObject handle : handles) {
            bytes += handle.getStateSize();
        }
        return bytes;
    }
}
