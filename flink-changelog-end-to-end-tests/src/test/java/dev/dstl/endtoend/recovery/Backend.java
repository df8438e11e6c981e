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

package dev.dstl.endtoend.recovery;

import dev.dstl.spillable.RandomlyPlacedBackendFactory;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;

/** The state backends that the end-to-end tests run. */
enum Backend {
    CHANGELOG_ON_ROCKSDB("rocksdb", true),
    CHANGELOG_ON_ROCKSDB_WITH_HEAP_TIMERS("rocksdb", true) {
        @Override
        void configure(Configuration job) {
            super.configure(job);
            job.setString("state.backend.rocksdb.timer-service.factory", "HEAP");
        }
    },
    /** Never materializes, so that the changelog holds everything. */
    CHANGELOG_ON_ROCKSDB_NEVER_MATERIALIZED("rocksdb", true) {
        @Override
        void configure(Configuration job) {
            super.configure(job);
            job.set(StateChangelogOptions.PERIODIC_MATERIALIZATION_ENABLED, false);
        }
    },
    CHANGELOG_ON_HASHMAP("hashmap", true),
    /** Spills and loads entries at random between records. */
    CHANGELOG_ON_SPILLABLE(RandomlyPlacedBackendFactory.class.getName(), true),
    SPILLABLE(RandomlyPlacedBackendFactory.class.getName(), false),
    ROCKSDB("rocksdb", false);

    /** Backends that restore each other's checkpoints and native savepoints. */
    private static final Set<Backend> ON_ROCKSDB =
            EnumSet.of(CHANGELOG_ON_ROCKSDB, CHANGELOG_ON_ROCKSDB_NEVER_MATERIALIZED, ROCKSDB);

    /** Short enough for several materializations within a test. */
    private static final Duration MATERIALIZATION_INTERVAL = Duration.ofMillis(700);

    /**
     * A notification that comes late can make Flink's RocksDB name files that the JobManager has
     * deleted. It then drops the acknowledgement, and the checkpoint waits for its timeout.
     */
    private static final Duration TIMEOUT_OF_FLINK_ALONE = Duration.ofSeconds(20);

    private final String delegate;
    private final boolean changelog;

    Backend(String delegate, boolean changelog) {
        this.delegate = delegate;
        this.changelog = changelog;
    }

    /** Whether this backend restores checkpoints and native savepoints of the other. */
    boolean readsFormatOf(Backend other) {
        return this == other || (ON_ROCKSDB.contains(this) && ON_ROCKSDB.contains(other));
    }

    /** Whether a job has none of DSTL's state backends. */
    static boolean isFlinksAlone(Configuration job) {
        return !job.get(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG)
                && ROCKSDB.delegate.equals(job.get(StateBackendOptions.STATE_BACKEND));
    }

    void configure(Configuration job) {
        job.set(StateBackendOptions.STATE_BACKEND, delegate);
        job.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, changelog);
        job.set(StateChangelogOptions.PERIODIC_MATERIALIZATION_ENABLED, true);
        if (!job.contains(StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL)) {
            job.set(
                    StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL,
                    MATERIALIZATION_INTERVAL);
        }
        job.setString("state.backend.rocksdb.timer-service.factory", "ROCKSDB");
        if (isFlinksAlone(job)) {
            job.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, TIMEOUT_OF_FLINK_ALONE);
        } else if (TIMEOUT_OF_FLINK_ALONE.equals(
                job.get(CheckpointingOptions.CHECKPOINTING_TIMEOUT))) {
            job.removeConfig(CheckpointingOptions.CHECKPOINTING_TIMEOUT);
        }
    }
}
