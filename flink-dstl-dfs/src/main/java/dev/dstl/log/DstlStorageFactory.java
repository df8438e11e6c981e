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

package dev.dstl.log;

import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.config.Installation;
import dev.dstl.log.config.KnownKeys;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.replay.RestoreMemory;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.runtime.metrics.groups.TaskManagerJobMetricGroup;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The factory behind {@code state.changelog.storage: dstl}. On restore, Flink finds it by the
 * storage identifier in the handle.
 */
public class DstlStorageFactory implements StateChangelogStorageFactory {

    private static final Logger LOG = LoggerFactory.getLogger(DstlStorageFactory.class);

    /**
     * Called by Flink when a TaskManager starts. Logs which release of DSTL is installed and what
     * is wrong with the installation.
     */
    public DstlStorageFactory() {
        Installation.ofProcess();
    }

    @Override
    public String getIdentifier() {
        return DstlHandleReader.STORAGE_IDENTIFIER;
    }

    /**
     * Creates the storage of a job. Does no work that can fail, since Flink calls this for jobs
     * without a changelog as well and does not say which jobs these are.
     */
    @Override
    public DstlStorage createStorage(
            JobID jobId,
            Configuration configuration,
            TaskManagerJobMetricGroup metricGroup,
            LocalRecoveryConfig localRecoveryConfig) {
        if (!configuration.get(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG)) {
            LOG.info(
                    "'{}' is not set for this TaskManager: job {} has no changelog unless it sets"
                            + " the key itself",
                    StateChangelogOptions.ENABLE_STATE_CHANGE_LOG.key(),
                    jobId);
            // Where the jar is misplaced, such as in plugins/, not all of Flink's classes are
            // there.
            if (Installation.ofProcess().problems().isEmpty()) {
                warnOfUnknownKeys(configuration);
            }
        }
        return new DstlStorage(jobId, configuration, metricGroup, localRecoveryConfig);
    }

    /**
     * Logs a warning. An unknown key may be a misspelt {@code state.changelog.enabled}, in which
     * case no job has a changelog and nothing else would report it. Jobs with a changelog are
     * refused.
     */
    private static void warnOfUnknownKeys(Configuration configuration) {
        try {
            KnownKeys.ofAllModules().check(configuration);
        } catch (IllegalConfigurationException e) {
            LOG.warn("A key of the changelog is misspelt: {}", e.getMessage());
        }
    }

    @Override
    public DstlStorageView createStorageView(Configuration configuration) {
        long readAheadBytes = DstlSettings.readAheadBytes(configuration);
        return new DstlStorageView(
                readAheadBytes == 0
                        ? null
                        : new RestoreMemory(
                                readAheadBytes,
                                DstlSettings.readAheadWithRoomBytes(configuration)));
    }
}
