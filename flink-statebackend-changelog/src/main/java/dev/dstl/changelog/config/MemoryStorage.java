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

import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.StateChangelogOptions;

/** Detects Flink's in-memory changelog storage, its default, whose checkpoints are not durable. */
public final class MemoryStorage {

    private static final String NAME = "memory";

    private MemoryStorage() {}

    /** Returns whether the configuration selects the in-memory storage. */
    public static boolean isMeantBy(ReadableConfig cluster) {
        return NAME.equalsIgnoreCase(cluster.get(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE));
    }

    /**
     * Rejects the in-memory storage on the JobManager already, where the configuration alone shows
     * that checkpoints are durable.
     *
     * @throws MisconfigurationException if the changelog would be in memory although checkpoints go
     *     to a directory
     */
    public static void refuseWithDurableCheckpoints(ReadableConfig cluster) {
        String storage = cluster.get(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE);
        boolean checkpointsInFiles =
                cluster.getOptional(CheckpointingOptions.CHECKPOINTS_DIRECTORY).isPresent()
                        && !"jobmanager"
                                .equalsIgnoreCase(
                                        cluster.get(CheckpointingOptions.CHECKPOINT_STORAGE));
        if (isMeantBy(cluster) && checkpointsInFiles) {
            throw refusal(storage);
        }
    }

    /**
     * Returns the exception to throw.
     *
     * @param storage configured value
     */
    public static MisconfigurationException refusal(String storage) {
        return new MisconfigurationException(
                String.format(
                        "'%s: %s' keeps the changelog in memory and sends all of it to the JobManager"
                                + " with every checkpoint, though checkpoints go to a directory;"
                                + " set it to 'dstl' and 'state.changelog.dstl.dfs.base-path' to a"
                                + " directory that all TaskManagers reach, in the configuration of"
                                + " the TaskManagers.",
                        StateChangelogOptions.STATE_CHANGE_LOG_STORAGE.key(), storage));
    }
}
