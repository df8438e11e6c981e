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

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/**
 * The keys of this backend that Flink does not have. Flink's {@code state.changelog.*} all work.
 */
public final class ChangelogBackendOptions {

    /** The backend that holds the state when our factory is named in {@code state.backend.type}. */
    public static final ConfigOption<String> DELEGATE =
            ConfigOptions.key("state.changelog.dstl.delegate")
                    .stringType()
                    .defaultValue("rocksdb")
                    .withDescription(
                            "The state backend that holds the state behind the log if"
                                    + " 'state.backend.type' names the factory of this changelog"
                                    + " backend: 'rocksdb', 'hashmap' or the class name of a state"
                                    + " backend factory. Not used with 'state.changelog.enabled',"
                                    + " which wraps whatever 'state.backend.type' says.");

    /** Threads of a TaskManager that upload materializations. */
    public static final ConfigOption<Integer> MATERIALIZATION_THREADS =
            ConfigOptions.key("state.changelog.dstl.materialization-threads")
                    .intType()
                    .defaultValue(4)
                    .withDescription(
                            "How many materializations a TaskManager uploads at the same time, at"
                                    + " least 1. They have threads of their own, so that a long"
                                    + " upload never delays a checkpoint. Read from the"
                                    + " configuration of the TaskManager only; the first keyed task"
                                    + " decides.");

    private ChangelogBackendOptions() {}
}
