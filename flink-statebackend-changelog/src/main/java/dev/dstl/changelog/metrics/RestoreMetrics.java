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

import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** Progress and durations of the restore of one keyed backend. Thread safe. */
public final class RestoreMetrics {

    private static final String PREFIX = "ChangelogRestore.";

    /** Bytes of the changelogs that the restore reads; 0 if it reads none. */
    public static final String CHANGELOG_SIZE = PREFIX + "changelogSize";

    /** Records that the delegate has taken, those left out that newer ones made superfluous. */
    public static final String REPLAYED_RECORDS = PREFIX + "numberOfReplayedRecords";

    /** Reads of changelogs that failed or hung and were tried again. */
    public static final String READ_RETRIES = PREFIX + "numberOfReadRetries";

    /** How long the delegate's base took to load, in milliseconds; -1 until it is loaded. */
    public static final String BASE_DURATION = PREFIX + "baseDuration";

    /** From the base to the last record, in milliseconds; -1 until it is over. */
    public static final String REPLAY_DURATION = PREFIX + "replayDuration";

    /** Bytes of changelog that a task of the process replays in a second. */
    public static final String REPLAY_RATE = PREFIX + "replayBytesPerSecond";

    private final AtomicLong readRetries = new AtomicLong();
    private volatile long changelogBytes;
    private volatile long replayedRecords;
    private volatile long baseMillis = -1;
    private volatile long replayMillis = -1;

    /**
     * Registers the metrics with the operator's {@code group}.
     *
     * @param replayRate as it was measured last
     */
    public RestoreMetrics(MetricGroup group, Gauge<Long> replayRate) {
        group.gauge(REPLAY_RATE, replayRate);
        group.gauge(CHANGELOG_SIZE, () -> changelogBytes);
        group.gauge(REPLAYED_RECORDS, () -> replayedRecords);
        group.gauge(READ_RETRIES, readRetries::get);
        group.gauge(BASE_DURATION, () -> baseMillis);
        group.gauge(REPLAY_DURATION, () -> replayMillis);
    }

    /** The changelogs to read. */
    public void started(long bytes) {
        changelogBytes = bytes;
    }

    /** A read is tried again. */
    public void readRetried() {
        readRetries.incrementAndGet();
    }

    /** The base is there. */
    public void baseLoaded(long millis) {
        baseMillis = millis;
    }

    /** So many records in all are applied. */
    public void replayed(long records) {
        replayedRecords = records;
    }

    /** All of them are. */
    public void finished(long millis) {
        replayMillis = millis;
    }
}
