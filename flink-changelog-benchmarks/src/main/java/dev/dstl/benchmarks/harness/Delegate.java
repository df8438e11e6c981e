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

package dev.dstl.benchmarks.harness;

/** The state backend that holds the working state. */
public enum Delegate {
    /** RocksDB with incremental checkpoints. */
    ROCKSDB("rocksdb", "RocksDB", "rocksdb"),
    /** Objects on the heap. */
    HASHMAP("hashmap", "HashMap", "hashmap"),
    /** The spillable heap, named as a string because not every class path has it. */
    SPILLABLE("spillable", "spillable heap", "dev.dstl.spillable.SpillableStateBackendFactory");

    private final String id;
    private final String label;
    private final String type;

    Delegate(String id, String label, String type) {
        this.id = id;
        this.label = label;
        this.type = type;
    }

    /** Returns the name on the command line and in files. */
    public String id() {
        return id;
    }

    /** Returns the label in reports. */
    public String label() {
        return label;
    }

    /** Returns the value of {@code state.backend.type}. */
    public String type() {
        return type;
    }
}
