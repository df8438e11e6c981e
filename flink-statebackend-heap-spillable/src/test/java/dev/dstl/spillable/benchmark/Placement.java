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

package dev.dstl.spillable.benchmark;

import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import dev.dstl.spillable.config.SpillableOptions;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.contrib.streaming.state.RocksDBOptions;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;

/** What is measured: a backend, and where its state lies. */
enum Placement {
    HASHMAP("HashMap") {
        @Override
        StateBackend backend(Configuration config) {
            return new HashMapStateBackend();
        }
    },
    ON_HEAP("nothing spilled") {
        @Override
        StateBackend backend(Configuration config) {
            return new SpillableStateBackend().configure(config, Placement.class.getClassLoader());
        }
    },
    SPILLED_37_PERCENT("37 % spilled") {
        @Override
        StateBackend backend(Configuration config) {
            return PlacedBackends.firstGroupsSpilled(
                    config, Math.round(WordCountRun.KEY_GROUPS * 0.37f));
        }
    },
    SPILLED("all spilled") {
        @Override
        StateBackend backend(Configuration config) {
            return PlacedBackends.firstGroupsSpilled(config, WordCountRun.KEY_GROUPS);
        }
    },
    ROCKSDB("RocksDB") {
        @Override
        StateBackend backend(Configuration config) {
            config.set(RocksDBOptions.FIX_PER_SLOT_MEMORY_SIZE, MemorySize.ofMebiBytes(1024));
            return new EmbeddedRocksDBStateBackend()
                    .configure(config, Placement.class.getClassLoader());
        }
    };

    private static final long OFF_HEAP_BYTES_PER_KEY = 26;

    final String label;

    Placement(String label) {
        this.label = label;
    }

    abstract StateBackend backend(Configuration config);

    /** With room for what has changed; the rest goes to chunk files. */
    StateBackend backend(int keys) {
        return backend(configuration(keys));
    }

    /** Everything is spilled, and checkpoints are incremental. */
    static StateBackend incremental(int keys) {
        return SPILLED.backend(
                configuration(keys).set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true));
    }

    private static Configuration configuration(int keys) {
        return new Configuration()
                .set(
                        SpillableOptions.OFF_HEAP_SIZE,
                        new MemorySize(Math.max(1 << 20, OFF_HEAP_BYTES_PER_KEY * keys)));
    }
}
