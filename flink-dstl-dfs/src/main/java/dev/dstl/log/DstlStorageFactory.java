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
import dev.dstl.log.replay.DstlHandleReader;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.TaskManagerJobMetricGroup;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageFactory;

/**
 * What {@code state.changelog.storage: dstl} names. Flink also finds it by the identifier in every
 * handle that the log wrote.
 */
public class DstlStorageFactory implements StateChangelogStorageFactory {

    @Override
    public String getIdentifier() {
        return DstlHandleReader.STORAGE_IDENTIFIER;
    }

    /** Costs nothing and never fails: Flink calls it for jobs without changelog as well. */
    @Override
    public DstlStorage createStorage(
            JobID jobId,
            Configuration configuration,
            TaskManagerJobMetricGroup metricGroup,
            LocalRecoveryConfig localRecoveryConfig) {
        return new DstlStorage(jobId, configuration, metricGroup, localRecoveryConfig);
    }

    @Override
    public DstlStorageView createStorageView(Configuration configuration) {
        return new DstlStorageView(DstlSettings.readAheadBytes(configuration));
    }
}
