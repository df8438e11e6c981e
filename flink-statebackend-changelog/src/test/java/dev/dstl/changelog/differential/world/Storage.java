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

package dev.dstl.changelog.differential.world;

import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.spillable.PlacedBackends;
import java.nio.file.Path;
import java.util.Collection;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend.PriorityQueueStateType;
import org.apache.flink.contrib.streaming.state.RocksDBOptionsFactory;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;

/** The delegate, and Flink's plain backend with which it is compared. */
public enum Storage {
    HASHMAP {
        @Override
        StateBackend delegate(Path directory, long seed) {
            return new HashMapStateBackend();
        }

        @Override
        StateBackend plain(Path directory) {
            return new HashMapStateBackend();
        }
    },
    SPILLABLE {
        @Override
        StateBackend delegate(Path directory, long seed) {
            return PlacedBackends.random(
                    new Configuration()
                            .set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, (seed & 1) == 0),
                    seed);
        }

        @Override
        StateBackend plain(Path directory) {
            return new HashMapStateBackend();
        }
    },
    ROCKSDB_FULL {
        @Override
        StateBackend delegate(Path directory, long seed) {
            return rocksDb(false, PriorityQueueStateType.ROCKSDB, directory);
        }

        @Override
        StateBackend plain(Path directory) {
            return rocksDb(false, PriorityQueueStateType.ROCKSDB, directory);
        }
    },
    ROCKSDB_INCREMENTAL {
        @Override
        StateBackend delegate(Path directory, long seed) {
            return rocksDb(true, PriorityQueueStateType.ROCKSDB, directory);
        }

        @Override
        StateBackend plain(Path directory) {
            return rocksDb(false, PriorityQueueStateType.ROCKSDB, directory);
        }
    },
    ROCKSDB_WITH_TIMERS_ON_HEAP {
        @Override
        StateBackend delegate(Path directory, long seed) {
            return rocksDb(true, PriorityQueueStateType.HEAP, directory);
        }

        @Override
        StateBackend plain(Path directory) {
            return rocksDb(false, PriorityQueueStateType.HEAP, directory);
        }
    };

    /**
     * Whether Flink writes the timers beside the checkpoints of the backend. There is nobody here
     * who would, so the canonical format is used instead, which has them.
     */
    boolean checkpointsLackTimers() {
        return this == ROCKSDB_WITH_TIMERS_ON_HEAP;
    }

    /** Whether it looks up state by the serialized key. */
    public boolean findsByBytes() {
        return this != HASHMAP && this != SPILLABLE;
    }

    /**
     * Returns a job with keys that it finds again. Entries that are spilled are found by the bytes
     * of their keys, but written anew in each generation.
     */
    public JobShape supported(JobShape shape) {
        if (this == HASHMAP) {
            return shape;
        }
        return findsByBytes() ? shape.withKeysOfStableBytes() : shape.withKeysOfEqualBytes();
    }

    abstract StateBackend delegate(Path directory, long seed);

    abstract StateBackend plain(Path directory);

    private static StateBackend rocksDb(
            boolean incremental, PriorityQueueStateType timers, Path directory) {
        EmbeddedRocksDBStateBackend backend = new EmbeddedRocksDBStateBackend(incremental);
        backend.setPriorityQueueStateType(timers);
        backend.setDbStoragePath(directory.toString());
        backend.setRocksDBOptions(new SmallFiles());
        return backend;
    }

    /** RocksDB options for small databases, whose allocations would dominate the test. */
    private static final class SmallFiles implements RocksDBOptionsFactory {

        private static final long serialVersionUID = 1L;
        private static final int PAGE = 4 << 10;

        @Override
        public DBOptions createDBOptions(
                DBOptions current, Collection<AutoCloseable> handlesToClose) {
            return current.setManifestPreallocationSize(PAGE)
                    .setMaxBackgroundJobs(1)
                    .setStatsDumpPeriodSec(0);
        }

        @Override
        public ColumnFamilyOptions createColumnOptions(
                ColumnFamilyOptions current, Collection<AutoCloseable> handlesToClose) {
            // Compacts often, so that later checkpoints lack files of earlier ones.
            return current.setWriteBufferSize(256 * PAGE)
                    .setArenaBlockSize(PAGE)
                    .setLevel0FileNumCompactionTrigger(2);
        }
    }
}
