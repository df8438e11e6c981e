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

package dev.dstl.benchmarks.demo;

import java.time.Duration;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.configuration.TaskManagerOptions;

/** A state backend that the demo runs: a delegate with the changelog or without. Immutable. */
final class Variant {

    static final int TASK_MANAGERS = 2;

    /** Room on each TaskManager for the whole job, so that it need not wait for a new process. */
    private static final int PARALLELISM = 2;

    private static final Duration CHECKPOINT_INTERVAL = Duration.ofSeconds(1);

    /** Short, so that a run of seconds sees some materializations. */
    private static final Duration MATERIALIZATION_INTERVAL = Duration.ofSeconds(5);

    private static final Duration IN_FLIGHT = Duration.ofMillis(100);

    private static final int RESTARTS = 5;

    /** Long enough to notice that a process is dead before deploying to it again. */
    private static final Duration RESTART_DELAY = Duration.ofMillis(500);

    private final boolean changelog;
    private final Delegate delegate;

    private Variant(boolean changelog, Delegate delegate) {
        this.changelog = changelog;
        this.delegate = delegate;
    }

    static Variant changelog(Delegate delegate) {
        return new Variant(true, delegate);
    }

    static Variant plain(Delegate delegate) {
        return new Variant(false, delegate);
    }

    /** Short, for file names. */
    String name() {
        return changelog ? "changelog" : "plain";
    }

    /** For people. */
    String label() {
        return changelog ? "changelog on " + delegate.label() : delegate.description();
    }

    /**
     * The configuration of the cluster and of the job.
     *
     * @param storage URI below which checkpoints and the log go
     * @param overrides keys that win over everything set here
     */
    Configuration configuration(String storage, Map<String, String> overrides) {
        Configuration all = new Configuration();
        all.set(CoreOptions.DEFAULT_PARALLELISM, PARALLELISM);
        all.set(TaskManagerOptions.NUM_TASK_SLOTS, PARALLELISM);
        all.set(
                TaskManagerOptions.TASK_MANAGER_LOAD_BALANCE_MODE,
                TaskManagerOptions.TaskManagerLoadBalanceMode.SLOTS);
        // Little in flight, so that checkpoints show the backend and not a queue before it.
        all.set(TaskManagerOptions.BUFFER_DEBLOAT_ENABLED, true);
        all.set(TaskManagerOptions.BUFFER_DEBLOAT_TARGET, IN_FLIGHT);
        all.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, RESTARTS);
        all.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_DELAY);
        all.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, CHECKPOINT_INTERVAL);
        all.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, storage + "/checkpoints");
        all.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        all.set(StateBackendOptions.STATE_BACKEND, delegate.type());
        all.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        if (changelog) {
            all.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true);
            all.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "dstl");
            all.setString("state.changelog.dstl.dfs.base-path", storage + "/log");
            all.set(
                    StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL,
                    MATERIALIZATION_INTERVAL);
        }
        overrides.forEach(all::setString);
        return all;
    }
}
