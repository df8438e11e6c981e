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

package dev.dstl.changelog.delegate;

import java.util.Set;
import org.apache.flink.runtime.state.StateBackend;

/** Recognizes Flink's RocksDB state backend, which need not be installed. */
public final class RocksDbBackend {

    /** Class names in Flink 1.x, of which the second is deprecated, and in Flink 2.x. */
    private static final Set<String> BACKENDS =
            Set.of(
                    "org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend",
                    "org.apache.flink.contrib.streaming.state.RocksDBStateBackend",
                    "org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend");

    private RocksDbBackend() {}

    /**
     * Returns whether a state backend downloads the files of incremental snapshots as Flink's
     * RocksDB backend does: it copies them before it uses them, and keeps the list of shared files,
     * which the next checkpoint names. Subclasses may do otherwise.
     */
    public static boolean downloadsFiles(StateBackend backend) {
        return BACKENDS.contains(backend.getClass().getName());
    }

    /**
     * Returns whether one of Flink's RocksDB backends keeps timers in RocksDB, which finds them by
     * their bytes. False also if the backend does not tell.
     */
    public static boolean keepsTimers(StateBackend backend) {
        try {
            Object place =
                    backend.getClass().getMethod("getPriorityQueueStateType").invoke(backend);
            return "ROCKSDB".equals(String.valueOf(place));
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    /** Returns whether a state backend is Flink's RocksDB backend or a subclass. */
    public static boolean is(StateBackend backend) {
        for (Class<?> type = backend.getClass(); type != null; type = type.getSuperclass()) {
            if (BACKENDS.contains(type.getName())) {
                return true;
            }
        }
        return false;
    }
}
