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

import static org.apache.flink.configuration.StateChangelogOptions.STATE_CHANGE_LOG_STORAGE;

import dev.dstl.log.config.Release;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs once per job and TaskManager which version and configuration run. Thread-safe. */
final class StartReport {

    private static final Logger LOG = LoggerFactory.getLogger(StartReport.class);

    /** A TaskManager has one storage per job and drops it with the job. */
    private static final Set<StateChangelogStorage<?>> REPORTED =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private StartReport() {}

    /**
     * Logs version and configuration, unless this was done for the job. Called for each keyed
     * backend with a changelog.
     */
    static void log(Environment environment, StateBackend delegate) {
        StateChangelogStorage<?> storage =
                environment.getTaskStateManager().getStateChangelogStorage();
        if (REPORTED.add(storage)) {
            LOG.info(
                    "DSTL {} runs job {}: delegate {}, storage {}",
                    Release.current(),
                    environment.getJobID(),
                    delegate.getClass().getSimpleName(),
                    environment
                            .getTaskManagerInfo()
                            .getConfiguration()
                            .get(STATE_CHANGE_LOG_STORAGE));
        }
    }
}
