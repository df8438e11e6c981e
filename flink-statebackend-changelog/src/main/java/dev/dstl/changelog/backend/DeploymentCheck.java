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

package dev.dstl.changelog.backend;

import static org.apache.flink.configuration.CheckpointingOptions.FILE_MERGING_ENABLED;
import static org.apache.flink.configuration.StateChangelogOptions.ENABLE_STATE_CHANGE_LOG;
import static org.apache.flink.configuration.StateChangelogOptions.STATE_CHANGE_LOG_STORAGE;

import dev.dstl.changelog.config.MemoryStorage;
import dev.dstl.changelog.config.MisconfigurationException;
import dev.dstl.compat.PeriodicCheckpoints;
import dev.dstl.log.config.Installation;
import dev.dstl.log.config.KnownKeys;
import dev.dstl.log.config.Release;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.jobgraph.JobType;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryStateChangelogStorage;
import org.apache.flink.runtime.state.memory.MemoryBackendCheckpointStorageAccess;

/** Rejects deployments in which the changelog cannot work, before the first record. Task thread. */
final class DeploymentCheck {

    private final Environment environment;
    private final Configuration cluster;

    /** Looks at the {@code environment} of a keyed task. */
    DeploymentCheck(Environment environment) {
        this.environment = environment;
        this.cluster = environment.getTaskManagerInfo().getConfiguration();
    }

    /**
     * Looks at the jars of this process.
     *
     * @throws MisconfigurationException if they cannot work here
     */
    void installation() {
        try {
            Installation.ofProcess().verify();
        } catch (IllegalConfigurationException e) {
            throw new MisconfigurationException(e.getMessage());
        }
    }

    /**
     * Looks for misspelt keys, which would have no effect and say nothing.
     *
     * @throws MisconfigurationException if there are any
     */
    void keys() {
        KnownKeys known = KnownKeys.ofAllModules();
        try {
            known.check(environment.getJobConfiguration());
            known.check(cluster);
        } catch (IllegalConfigurationException e) {
            throw new MisconfigurationException(e.getMessage());
        }
    }

    /**
     * Whether anybody will ever ask for the log. Not in batch mode, in which there are no
     * checkpoints. Nor in Flink's State Processor API, which opens backends without a TaskManager,
     * to read their state or to write a savepoint; it has no storage, not even the one in memory
     * that every TaskManager has.
     */
    boolean needsLog() {
        boolean onTaskManager =
                environment.getTaskStateManager().getStateChangelogStorage() != null
                        || !MemoryStorage.isMeantBy(cluster);
        return onTaskManager && environment.getJobType() != JobType.BATCH;
    }

    /**
     * The storage to log into.
     *
     * @throws MisconfigurationException if there is none, or none that fits the checkpoints
     */
    StateChangelogStorage<?> storage() {
        StateChangelogStorage<?> storage =
                environment.getTaskStateManager().getStateChangelogStorage();
        String configured = cluster.get(STATE_CHANGE_LOG_STORAGE);
        if (storage == null) {
            throw new MisconfigurationException(
                    String.format(
                            "'%s: %s' names no storage that this TaskManager has; set it to 'dstl'"
                                    + " in the configuration of the TaskManagers, and put"
                                    + " dstl-flink-%s-<version>.jar into their lib/.",
                            STATE_CHANGE_LOG_STORAGE.key(),
                            configured,
                            Release.current().flinkLine()));
        }
        if (storage instanceof InMemoryStateChangelogStorage && checkpointsAreDurable()) {
            throw MemoryStorage.refusal(configured);
        }
        return storage;
    }

    /**
     * The files of a base belong to the backend until no checkpoint needs them; merged ones belong
     * to Flink.
     *
     * @throws MisconfigurationException if Flink merges the files of checkpoints
     */
    void fileMerging() {
        boolean merging =
                environment
                        .getJobConfiguration()
                        .getOptional(FILE_MERGING_ENABLED)
                        .orElseGet(() -> cluster.get(FILE_MERGING_ENABLED));
        if (merging) {
            throw new MisconfigurationException(
                    String.format(
                            "'%s' is true, which DSTL does not support; set it to false for jobs with"
                                    + " a changelog.",
                            FILE_MERGING_ENABLED.key()));
        }
    }

    private boolean checkpointsAreDurable() {
        return PeriodicCheckpoints.areEnabled(environment)
                && !(environment.getCheckpointStorageAccess()
                        instanceof MemoryBackendCheckpointStorageAccess);
    }

    /**
     * Local copies are kept by Flink's store for changelog checkpoints, which the flag selects and
     * not the class of the backend; the other store would delete copies that are in use.
     *
     * @throws MisconfigurationException if the wrong store is in use
     */
    void localRecovery() {
        boolean localBackup =
                environment
                        .getTaskStateManager()
                        .createLocalRecoveryConfig()
                        .isLocalBackupEnabled();
        boolean flag =
                environment
                        .getJobConfiguration()
                        .getOptional(ENABLE_STATE_CHANGE_LOG)
                        .orElseGet(() -> cluster.get(ENABLE_STATE_CHANGE_LOG));
        if (localBackup && !flag) {
            throw new MisconfigurationException(
                    String.format(
                            "Local recovery of a changelog backend needs '%s: true', found 'false';"
                                    + " set it beside the state backend, or switch local recovery"
                                    + " off.",
                            ENABLE_STATE_CHANGE_LOG.key()));
        }
    }
}
