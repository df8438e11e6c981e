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

package dev.dstl.changelog.config;

import static dev.dstl.changelog.config.ChangelogBackendOptions.MATERIALIZE_THREADS;
import static org.apache.flink.configuration.StateChangelogOptions.MATERIALIZATION_MAX_FAILURES_ALLOWED;
import static org.apache.flink.configuration.StateChangelogOptions.PERIODIC_MATERIALIZATION_ENABLED;
import static org.apache.flink.configuration.StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.util.MathUtils;

/** When a task materializes, and how many failures it tolerates. Immutable. */
public final class MaterializationSettings {

    private static final int MAX_THREADS = 1000;

    private final boolean periodic;
    private final long intervalMillis;
    private final int maxFailuresAllowed;

    /**
     * Creates settings.
     *
     * @param periodic whether materializations start at an interval
     * @param intervalMillis time between the end of one materialization and the start of the next;
     *     zero or less disables periodic materialization
     * @param maxFailuresAllowed number of failures in a row that the task tolerates
     */
    public MaterializationSettings(boolean periodic, long intervalMillis, int maxFailuresAllowed) {
        this.periodic = periodic && intervalMillis > 0;
        this.intervalMillis = intervalMillis;
        this.maxFailuresAllowed = maxFailuresAllowed;
    }

    /**
     * Reads Flink's keys.
     *
     * @param values configuration of the task
     * @throws MisconfigurationException if a value cannot be read
     */
    public static MaterializationSettings of(TaskConfiguration values) {
        return new MaterializationSettings(
                values.get(PERIODIC_MATERIALIZATION_ENABLED),
                values.get(PERIODIC_MATERIALIZATION_INTERVAL).toMillis(),
                values.get(MATERIALIZATION_MAX_FAILURES_ALLOWED));
    }

    /**
     * Reads how many materializations a TaskManager uploads at the same time.
     *
     * @param cluster configuration of the TaskManager
     * @throws MisconfigurationException if the value is none, or not in the range of 1 to 1000
     */
    public static int uploadThreads(Configuration cluster) {
        return TaskConfiguration.count(cluster, MATERIALIZE_THREADS, 1, MAX_THREADS);
    }

    /** Returns whether materializations start at an interval. */
    public boolean periodic() {
        return periodic;
    }

    /** Returns the interval in milliseconds; positive if {@link #periodic()}. */
    public long intervalMillis() {
        return intervalMillis;
    }

    /** Returns the number of failures in a row that the task tolerates. */
    public int maxFailuresAllowed() {
        return maxFailuresAllowed;
    }

    /**
     * Returns the delay before the first materialization of a subtask in milliseconds, which
     * spreads the subtasks over the interval. Requires {@link #periodic()}.
     *
     * @param subtask name of operator and subtask
     * @return in {@code [0, intervalMillis)}
     */
    public long initialDelayMillis(String subtask) {
        return MathUtils.murmurHash(subtask.hashCode()) % intervalMillis;
    }
}
