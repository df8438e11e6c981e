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

package dev.dstl.changelog.metrics;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** Progress and durations of the restore of one keyed backend. Thread-safe. */
public final class RestoreMetrics {

    private static final String PREFIX = "ChangelogRestore.";

    /** Total size of the restored changelogs in bytes; 0 if there are none. */
    public static final String CHANGELOG_SIZE = PREFIX + "changelogSize";

    /**
     * Number of records that were applied to the delegate. Obsolete records, which are dropped, do
     * not count.
     */
    public static final String REPLAYED_RECORDS = PREFIX + "numberOfReplayedRecords";

    /** Number of reads of bases and changelogs that failed, hung or were slow and were retried. */
    public static final String READ_RETRIES = PREFIX + "numberOfReadRetries";

    /** Time to load the base in milliseconds; -1 until it is loaded. */
    public static final String BASE_DURATION = PREFIX + "baseDuration";

    /**
     * Time from the loaded base to the last record in milliseconds; -1 until the replay has ended.
     */
    public static final String REPLAY_DURATION = PREFIX + "replayDuration";

    /** Changelog bytes per second that a task of this process replays. */
    public static final String REPLAY_RATE = PREFIX + "replayBytesPerSecond";

    /**
     * By operator: if it cannot restore from local copies, Flink restores it again with the same
     * group, which keeps the first metric of a name.
     */
    private static final Map<MetricGroup, RestoreMetrics> REGISTERED =
            Collections.synchronizedMap(new WeakHashMap<>());

    private final AtomicLong readRetries = new AtomicLong();
    private volatile long changelogBytes;
    private volatile long replayedRecords;
    private volatile long baseMillis = -1;
    private volatile long replayMillis = -1;

    private RestoreMetrics(MetricGroup group, Gauge<Long> replayRate) {
        group.gauge(REPLAY_RATE, replayRate);
        group.gauge(CHANGELOG_SIZE, () -> changelogBytes);
        group.gauge(REPLAYED_RECORDS, () -> replayedRecords);
        group.gauge(READ_RETRIES, readRetries::get);
        group.gauge(BASE_DURATION, () -> baseMillis);
        group.gauge(REPLAY_DURATION, () -> replayMillis);
    }

    /**
     * Returns the metrics of a restore that begins, registered in the operator's {@code group}.
     *
     * @param replayRate of recent restores
     */
    public static RestoreMetrics of(MetricGroup group, Gauge<Long> replayRate) {
        RestoreMetrics metrics =
                REGISTERED.computeIfAbsent(group, any -> new RestoreMetrics(any, replayRate));
        metrics.begin();
        return metrics;
    }

    private void begin() {
        changelogBytes = 0;
        replayedRecords = 0;
        baseMillis = -1;
        replayMillis = -1;
    }

    /**
     * Sets the size of the changelogs.
     *
     * @param bytes total size in the store
     */
    public void started(long bytes) {
        changelogBytes = bytes;
    }

    /** Counts a retried read. */
    public void readRetried() {
        readRetries.incrementAndGet();
    }

    /** Sets the time to load the base. */
    public void baseLoaded(long millis) {
        baseMillis = millis;
    }

    /**
     * Sets the number of applied records.
     *
     * @param records total since the start of the restore
     */
    public void replayed(long records) {
        replayedRecords = records;
    }

    /** Sets the replay time. */
    public void finished(long millis) {
        replayMillis = millis;
    }
}
