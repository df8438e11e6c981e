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

import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.ThreadSafeSimpleCounter;

/** Counts and durations of materializations of one keyed backend. Thread-safe. */
public final class MaterializationMetrics {

    private static final String PREFIX = "ChangelogMaterialization.";

    /** Started materializations, including those that found nothing new. */
    public static final String STARTED_MATERIALIZATION = PREFIX + "startedMaterialization";

    /** Successful materializations, including those that found nothing new. */
    public static final String COMPLETED_MATERIALIZATION = PREFIX + "completedMaterialization";

    /** Failed materializations. */
    public static final String FAILED_MATERIALIZATION = PREFIX + "failedMaterialization";

    /** Failed materializations since the last successful one. */
    public static final String CONSECUTIVE_FAILURES = PREFIX + "consecutiveFailures";

    /** Duration of the last successful materialization in milliseconds; -1 before the first. */
    public static final String LAST_DURATION_OF_MATERIALIZATION =
            PREFIX + "lastDurationOfMaterialization";

    private final Counter started;
    private final Counter completed;
    private final Counter failed;
    private volatile long failuresInARow;
    private volatile long lastDurationMillis = -1;

    /** Registers the metrics in the operator's {@code group}. */
    public MaterializationMetrics(MetricGroup group) {
        started = group.counter(STARTED_MATERIALIZATION, new ThreadSafeSimpleCounter());
        completed = group.counter(COMPLETED_MATERIALIZATION, new ThreadSafeSimpleCounter());
        failed = group.counter(FAILED_MATERIALIZATION, new ThreadSafeSimpleCounter());
        group.gauge(CONSECUTIVE_FAILURES, () -> failuresInARow);
        group.gauge(LAST_DURATION_OF_MATERIALIZATION, () -> lastDurationMillis);
    }

    /** Counts a started materialization. */
    public void started() {
        started.inc();
    }

    /** Counts a successful materialization. */
    public void completed(long durationMillis) {
        completed.inc();
        failuresInARow = 0;
        lastDurationMillis = durationMillis;
    }

    /**
     * Counts a failed materialization.
     *
     * @param inARow failures since the last successful one, this one included
     */
    public void failed(int inARow) {
        failed.inc();
        failuresInARow = inARow;
    }
}
