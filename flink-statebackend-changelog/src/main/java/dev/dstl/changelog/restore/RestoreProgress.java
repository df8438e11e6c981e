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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.metrics.RestoreMetrics;
import dev.dstl.changelog.metrics.RestoreRate;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the progress of a restore: in a log line every ten seconds, and in metrics. Used by the
 * task thread.
 */
final class RestoreProgress {

    private static final Logger LOG = LoggerFactory.getLogger(RestoreProgress.class);

    private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final String task;
    private final RestoreMetrics metrics;
    private final RestoreRate changelogRate;
    private final RestoreRate baseRate;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private long bytes;
    private boolean knowsAllBytes;
    private int changelogs;
    private long baseNanos;
    private long loggedNanos;
    private long replayed;

    /**
     * Starts the clock of a restore.
     *
     * @param task name of the task
     * @param changelogRate gets the throughput of the replay
     * @param baseRate gets the throughput of loading the base
     * @param nanoTime a monotonic clock
     */
    RestoreProgress(
            String task,
            RestoreMetrics metrics,
            RestoreRate changelogRate,
            RestoreRate baseRate,
            LongSupplier nanoTime) {
        this.task = task;
        this.metrics = metrics;
        this.changelogRate = changelogRate;
        this.baseRate = baseRate;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
    }

    /**
     * Sets what will be replayed.
     *
     * @param count number of changelogs
     * @param allBytes their total size
     * @param knowsAll whether each of them knows its size
     */
    void changelogs(int count, long allBytes, boolean knowsAll) {
        changelogs = count;
        bytes = allBytes;
        knowsAllBytes = knowsAll;
        metrics.started(allBytes);
    }

    /**
     * Reports that the base is loaded and the replay starts.
     *
     * @param baseBytes size of the base in the store
     * @param fromStore whether it came from there, and not from local copies
     */
    void baseLoaded(long baseBytes, boolean fromStore) {
        baseNanos = nanoTime.getAsLong();
        loggedNanos = baseNanos;
        metrics.baseLoaded(millis(baseNanos - startNanos));
        if (fromStore) {
            baseRate.measured(baseBytes, baseNanos - startNanos);
        }
    }

    /**
     * Reports applied records.
     *
     * @param readRecords total number of records read, obsolete ones included
     * @param records number applied since the last call
     */
    void replayed(long records, long readRecords) {
        replayed += records;
        metrics.replayed(replayed);
        long now = nanoTime.getAsLong();
        if (now - loggedNanos >= LOG_NANOS) {
            loggedNanos = now;
            LOG.info(
                    "Replaying the changelogs of {}: {} state changes of {} read, {} applied after"
                            + " {} s",
                    task,
                    readRecords,
                    megabytes(),
                    replayed,
                    TimeUnit.NANOSECONDS.toSeconds(now - baseNanos));
        }
    }

    /**
     * Reports the end of the replay.
     *
     * @param readRecords total number of records read, obsolete ones included
     */
    void finished(long readRecords) {
        long nanos = nanoTime.getAsLong() - baseNanos;
        metrics.finished(millis(nanos));
        if (changelogs > 0) {
            LOG.info(
                    "Replayed {} changelogs of {} in {} ms, after {} ms for the base: {}, {} state"
                            + " changes read, {} applied",
                    changelogs,
                    task,
                    millis(nanos),
                    millis(baseNanos - startNanos),
                    megabytes(),
                    readRecords,
                    replayed);
            if (knowsAllBytes) {
                changelogRate.measured(bytes, nanos);
            }
        }
    }

    private String megabytes() {
        return String.format("%.1f MiB", bytes / 1048576.0);
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }
}
