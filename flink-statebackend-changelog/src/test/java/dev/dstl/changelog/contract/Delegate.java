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

import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.config.SpillableOptions;
import java.nio.file.Path;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend.PriorityQueueStateType;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.util.EnvironmentInformation;

/** The delegates on which every suite of Flink runs. */
public enum Delegate {
    HASHMAP {
        @Override
        public StateBackend create(Path directory) {
            return new HashMapStateBackend();
        }
    },
    ROCKSDB_FULL {
        @Override
        public StateBackend create(Path directory) {
            return rocksDb(false, PriorityQueueStateType.ROCKSDB, directory);
        }
    },
    ROCKSDB_INCREMENTAL {
        @Override
        public StateBackend create(Path directory) {
            return rocksDb(true, PriorityQueueStateType.ROCKSDB, directory);
        }
    },
    /** Its snapshots omit the timers. */
    ROCKSDB_WITH_TIMERS_ON_HEAP {
        @Override
        public StateBackend create(Path directory) {
            return rocksDb(true, PriorityQueueStateType.HEAP, directory);
        }
    },
    /** All of its state is spilled. */
    SPILLABLE_INCREMENTAL {
        @Override
        public StateBackend create(Path directory) {
            return PlacedBackends.spilled(
                    new Configuration()
                            .set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true)
                            .set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(1))
                            .set(SpillableOptions.DIRECTORIES, directory.toString()));
        }
    };

    /** Creates a state backend. */
    public abstract StateBackend create(Path directory);

    /**
     * Whether state that was restored with a time to live may be registered without one, and the
     * other way round, on the line of Flink that runs.
     */
    public boolean convertsTimeToLive() {
        String version = EnvironmentInformation.getVersion();
        switch (this) {
            case SPILLABLE_INCREMENTAL:
                return false;
            case HASHMAP:
                return version.compareTo("2.2") >= 0;
            default:
                return version.compareTo("2.1") >= 0;
        }
    }

    private static StateBackend rocksDb(
            boolean incremental, PriorityQueueStateType timers, Path directory) {
        EmbeddedRocksDBStateBackend backend = new EmbeddedRocksDBStateBackend(incremental);
        backend.setPriorityQueueStateType(timers);
        backend.setDbStoragePath(directory.toString());
        return backend;
    }
}
