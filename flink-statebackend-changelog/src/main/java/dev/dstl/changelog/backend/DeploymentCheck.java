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
import static org.apache.flink.configuration.StateBackendOptions.STATE_BACKEND;
import static org.apache.flink.configuration.StateChangelogOptions.ENABLE_STATE_CHANGE_LOG;
import static org.apache.flink.configuration.StateChangelogOptions.STATE_CHANGE_LOG_STORAGE;

import dev.dstl.changelog.config.ForeignThreads;
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

/**
 * Rejects deployments in which the changelog cannot work, before the first record. Used by the task
 * thread.
 */
final class DeploymentCheck {

    /** ForSt of Flink 2, which 1.20 does not have. */
    private static final String FORST_PACKAGE = "org.apache.flink.state.forst.";

    private final Environment environment;
    private final Configuration cluster;

    /** Creates checks for the {@code environment} of a keyed task. */
    DeploymentCheck(Environment environment) {
        this.environment = environment;
        this.cluster = environment.getTaskManagerInfo().getConfiguration();
    }

    /**
     * Checks the jars of this process.
     *
     * @throws MisconfigurationException if the changelog cannot work with them
     */
    void installation() {
        try {
            Installation.ofProcess().verify();
        } catch (IllegalConfigurationException e) {
            throw new MisconfigurationException(e.getMessage());
        }
    }

    /**
     * Checks for misspelt keys, which would otherwise be ignored silently.
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
     * Returns whether the task needs a changelog. It does not in batch mode, which has no
     * checkpoints, nor in Flink's State Processor API, which opens backends without a TaskManager
     * to read state or to write a savepoint; there is no changelog storage, not even Flink's
     * default in memory. Without periodic checkpoints, operators whose states another thread uses
     * would never be materialized, and their changelog would grow for ever.
     */
    boolean needsLog(String operatorIdentifier) {
        boolean onTaskManager =
                environment.getTaskStateManager().getStateChangelogStorage() != null
                        || !MemoryStorage.isMeantBy(cluster);
        boolean canMaterialize =
                !ForeignThreads.mayUseStatesOf(operatorIdentifier)
                        || PeriodicCheckpoints.areEnabled(environment);
        return onTaskManager && canMaterialize && environment.getJobType() != JobType.BATCH;
    }

    /**
     * Returns the changelog storage.
     *
     * @throws MisconfigurationException if there is none, or if it is in memory although
     *     checkpoints are durable
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
     * Checks that Flink does not merge checkpoint files. Merged files belong to Flink, but the
     * files of a base belong to the state backend until no checkpoint needs them.
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

    /**
     * Checks that a changelog works over the state backend of this class. Over ForSt it does not:
     * bases that overlap after a rescaling are separated through canonical snapshots, which ForSt
     * has not.
     *
     * @throws MisconfigurationException if it does not
     */
    void delegate(String stateBackend) {
        if (stateBackend.startsWith(FORST_PACKAGE)) {
            throw new MisconfigurationException(
                    String.format(
                            "'%s' is forst (%s), which cannot be the delegate of a changelog: a"
                                    + " rescaled job could not be restored; use rocksdb, or set"
                                    + " '%s: false'.",
                            STATE_BACKEND.key(), stateBackend, ENABLE_STATE_CHANGE_LOG.key()));
        }
    }

    private boolean checkpointsAreDurable() {
        return PeriodicCheckpoints.areEnabled(environment)
                && !(environment.getCheckpointStorageAccess()
                        instanceof MemoryBackendCheckpointStorageAccess);
    }

    /**
     * Checks that Flink uses the local state store for changelog checkpoints, which depends on the
     * key and not on the class of the state backend. The other store would delete copies that are
     * in use.
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
