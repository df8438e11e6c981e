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
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;

/** What a task is configured with: the keys of its job, and those of the TaskManager for others. */
final class TaskConfiguration {

    private final Configuration job;
    private final Configuration cluster;

    TaskConfiguration(Configuration job, Configuration cluster) {
        this.job = job;
        this.cluster = cluster;
    }

    /**
     * Returns a value, or the default.
     *
     * @throws MisconfigurationException if the value cannot be read
     */
    <T> T get(ConfigOption<T> option) {
        try {
            return new CheckedConfiguration(job.contains(option) ? job : cluster).get(option);
        } catch (IllegalConfigurationException e) {
            throw new MisconfigurationException(e.getMessage());
        }
    }
}
