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

package dev.dstl.changelog.differential.world;

import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;

/** Configuration of the TaskManagers. Immutable. */
public final class LogOptions {

    private final int inlineThreshold;
    private final int minRuns;
    private final int stateThreshold;
    private final boolean localRecovery;
    private final int workers;
    private final int retained;

    /**
     * @param inlineThreshold up to how many bytes of changelog travel in a handle
     * @param minRuns number of runs that are compacted into one
     * @param stateThreshold up to how many bytes of a snapshot travel in a handle
     * @param workers how many TaskManagers there are
     * @param retained how many completed checkpoints the JobManager keeps
     */
    public LogOptions(
            int inlineThreshold,
            int minRuns,
            int stateThreshold,
            boolean localRecovery,
            int workers,
            int retained) {
        this.inlineThreshold = inlineThreshold;
        this.minRuns = minRuns;
        this.stateThreshold = stateThreshold;
        this.localRecovery = localRecovery;
        this.workers = workers;
        this.retained = retained;
    }

    int stateThreshold() {
        return stateThreshold;
    }

    public boolean localRecovery() {
        return localRecovery;
    }

    int workers() {
        return workers;
    }

    int retained() {
        return retained;
    }

    Configuration configuration(Path directory, boolean changelog) {
        Configuration configuration = new Configuration();
        configuration.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, changelog);
        configuration.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "dstl");
        // A job may have any number of faulty materializations in a row.
        configuration.set(
                StateChangelogOptions.MATERIALIZATION_MAX_FAILURES_ALLOWED, Integer.MAX_VALUE);
        configuration.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        configuration.setString(
                "state.changelog.dstl.inline-threshold", Integer.toString(inlineThreshold));
        configuration.setString(
                "state.changelog.dstl.compaction.min-runs", Integer.toString(minRuns));
        return configuration;
    }

    @Override
    public String toString() {
        return String.format(
                "inline up to %d bytes, compactions of %d, snapshots inline up to %d bytes, %s local"
                        + " recovery, %d TaskManager(s), %d checkpoint(s) retained",
                inlineThreshold,
                minRuns,
                stateThreshold,
                localRecovery ? "with" : "without",
                workers,
                retained);
    }
}
