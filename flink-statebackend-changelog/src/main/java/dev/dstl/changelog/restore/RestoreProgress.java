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
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports the progress of a restore: in the log every ten seconds, and in metrics. Task thread. */
final class RestoreProgress {

    private static final Logger LOG = LoggerFactory.getLogger(RestoreProgress.class);

    private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final String task;
    private final RestoreMetrics metrics;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private long bytes;
    private int changelogs;
    private long baseNanos;
    private long loggedNanos;
    private long replayed;

    /**
     * Starts with the restore.
     *
     * @param task its name
     * @param nanoTime a clock that only runs forward
     */
    RestoreProgress(String task, RestoreMetrics metrics, LongSupplier nanoTime) {
        this.task = task;
        this.metrics = metrics;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
    }

    /** So much is to be replayed. */
    void changelogs(int count, long allBytes) {
        changelogs = count;
        bytes = allBytes;
        metrics.started(allBytes);
    }

    /** The delegate holds the base, and the replay begins. */
    void baseLoaded() {
        baseNanos = nanoTime.getAsLong();
        loggedNanos = baseNanos;
        metrics.baseLoaded(millis(baseNanos - startNanos));
    }

    /**
     * Some records more are applied.
     *
     * @param readRecords what was read of all logs so far, obsolete ones included
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

    /** All is replayed. */
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
            ReplayRate.ofProcess().measured(bytes, nanos);
        }
    }

    private String megabytes() {
        return String.format("%.1f MiB", bytes / 1048576.0);
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }
}
