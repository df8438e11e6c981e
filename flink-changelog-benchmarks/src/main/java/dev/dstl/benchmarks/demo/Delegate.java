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

import dev.dstl.spillable.SpillableStateBackendFactory;

/** The backend that holds the working state. */
enum Delegate {
    ROCKSDB("rocksdb", "rocksdb", "RocksDB, incremental"),
    HASHMAP("hashmap", "hashmap", "HashMap, full"),
    SPILLABLE("spillable", SpillableStateBackendFactory.class.getName(), "spillable heap, full");

    private final String label;
    private final String type;
    private final String description;

    Delegate(String label, String type, String description) {
        this.label = label;
        this.type = type;
        this.description = description;
    }

    /** What the command line calls it. */
    String label() {
        return label;
    }

    /** The value of {@code state.backend.type}. */
    String type() {
        return type;
    }

    /** With the way it takes checkpoints on its own. */
    String description() {
        return description;
    }
}
