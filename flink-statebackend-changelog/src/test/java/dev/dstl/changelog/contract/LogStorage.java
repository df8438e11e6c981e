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

package dev.dstl.changelog.contract;

import dev.dstl.log.DstlStorage;
import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryStateChangelogStorage;

/** The changelog storages on which every suite of Flink runs. */
public enum LogStorage {
    /** Flink's in-memory storage: takes encoded records through Flink's interface. */
    MEMORY {
        @Override
        public StateChangelogStorage<?> create(Path directory) {
            return new InMemoryStateChangelogStorage();
        }
    },
    /** DSTL, on a file system: takes record keys, drops obsolete records, writes segments. */
    DSTL {
        @Override
        public StateChangelogStorage<?> create(Path directory) {
            JobID jobId = new JobID();
            Configuration configuration = new Configuration();
            configuration.setString(
                    "state.changelog.dstl.dfs.base-path", directory.toUri().toString());
            // These tests are about segments, however small.
            configuration.setString("state.changelog.dstl.inline-threshold", "0");
            // One attempt and so one file a segment, also where the disk is slow for a moment.
            configuration.setString("state.changelog.dstl.dfs.upload.timeout", "0");
            // Few checkpoints, and yet compacted runs.
            configuration.setString("state.changelog.dstl.compaction.min-runs", "2");
            return new DstlStorage(jobId, configuration, new UnregisteredMetricsGroup());
        }
    };

    /** Creates the storage of a new job. */
    public abstract StateChangelogStorage<?> create(Path directory);

    /** Creates the state manager of a task with this storage and local copies. */
    public TestTaskStateManager taskStateManager(Path directory, LocalRecoveryConfig local) {
        return TestTaskStateManager.builder()
                .setStateChangelogStorage(create(directory))
                .setLocalRecoveryConfig(local)
                .build();
    }

    /** Creates the state manager of a task with this storage. */
    public TestTaskStateManager taskStateManager(Path directory) {
        return TestTaskStateManager.builder().setStateChangelogStorage(create(directory)).build();
    }
}
