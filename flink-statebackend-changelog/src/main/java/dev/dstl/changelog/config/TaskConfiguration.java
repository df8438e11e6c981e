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

import dev.dstl.log.config.CheckedConfiguration;
import java.util.function.Supplier;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;

/** What a task is configured with: the keys of its job, and those of the TaskManager for others. */
public final class TaskConfiguration {

    private final Configuration job;
    private final Configuration cluster;

    /**
     * Reads these configurations, not copies of them.
     *
     * @param job configuration of the job, which takes precedence
     * @param cluster configuration of the TaskManager
     */
    public TaskConfiguration(Configuration job, Configuration cluster) {
        this.job = job;
        this.cluster = cluster;
    }

    /** Returns whether the job has a value for this key. */
    public boolean isSetByJob(ConfigOption<?> option) {
        return job.contains(option);
    }

    /**
     * Returns the job's value, or the default. For keys that Flink's JobManager takes from the job
     * alone: the job's configuration is that of the client, which may differ from the
     * TaskManager's.
     *
     * @throws MisconfigurationException if the value cannot be read
     */
    public <T> T getOfJob(ConfigOption<T> option) {
        return checked(() -> new CheckedConfiguration(job).get(option));
    }

    /**
     * Returns a value, or the default.
     *
     * @throws MisconfigurationException if the value cannot be read
     */
    public <T> T get(ConfigOption<T> option) {
        return checked(
                () -> new CheckedConfiguration(job.contains(option) ? job : cluster).get(option));
    }

    /**
     * Returns an integer in {@code [from, to]} that jobs cannot set, or the default.
     *
     * @throws MisconfigurationException if the value is none
     */
    static int count(Configuration cluster, ConfigOption<Integer> option, int from, int to) {
        return checked(() -> new CheckedConfiguration(cluster).count(option, from, to));
    }

    private static <T> T checked(Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalConfigurationException e) {
            throw new MisconfigurationException(e.getMessage());
        }
    }
}
