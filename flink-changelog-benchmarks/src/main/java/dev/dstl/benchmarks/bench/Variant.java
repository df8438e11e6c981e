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

package dev.dstl.benchmarks.bench;

import dev.dstl.benchmarks.cluster.ClassPath;
import dev.dstl.benchmarks.harness.Backend;
import dev.dstl.benchmarks.harness.Changelog;
import dev.dstl.benchmarks.harness.Delegate;
import dev.dstl.benchmarks.measurement.VariantDescription;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateChangelogOptions;

/** A state backend that is measured: a delegate with a changelog or without. */
enum Variant {
    PLAIN_ROCKSDB("plain-rocksdb", "RocksDB", Delegate.ROCKSDB, Changelog.NONE),
    RARE_ROCKSDB("rare-rocksdb", "RocksDB, rare checkpoints", Delegate.ROCKSDB, Changelog.NONE),
    BUILTIN_ROCKSDB(
            "builtin-rocksdb",
            "Flink's changelog on RocksDB",
            Delegate.ROCKSDB,
            Changelog.BUILT_IN),
    DSTL_ROCKSDB("dstl-rocksdb", "DSTL on RocksDB", Delegate.ROCKSDB, Changelog.DSTL),
    PLAIN_HASHMAP("plain-hashmap", "HashMap", Delegate.HASHMAP, Changelog.NONE),
    RARE_HASHMAP("rare-hashmap", "HashMap, rare checkpoints", Delegate.HASHMAP, Changelog.NONE),
    BUILTIN_HASHMAP(
            "builtin-hashmap",
            "Flink's changelog on HashMap",
            Delegate.HASHMAP,
            Changelog.BUILT_IN),
    DSTL_HASHMAP("dstl-hashmap", "DSTL on HashMap", Delegate.HASHMAP, Changelog.DSTL),
    /** The delegate on a larger machine, for comparison. */
    AMPLE_HASHMAP("ample-hashmap", "HashMap, ample heap", Delegate.HASHMAP, Changelog.NONE),
    RARE_SPILLABLE(
            "rare-spillable", "spillable, rare checkpoints", Delegate.SPILLABLE, Changelog.NONE),
    DSTL_SPILLABLE("dstl-spillable", "DSTL on spillable", Delegate.SPILLABLE, Changelog.DSTL);

    static final Duration CHECKPOINT_INTERVAL = Duration.ofSeconds(1);

    private static final int AMPLE = 8;

    private final String id;
    private final String label;
    private final Delegate delegate;
    private final Changelog changelog;

    Variant(String id, String label, Delegate delegate, Changelog changelog) {
        this.id = id;
        this.label = label;
        this.delegate = delegate;
        this.changelog = changelog;
    }

    /** Returns the name on the command line and in files. */
    String id() {
        return id;
    }

    Changelog changelog() {
        return changelog;
    }

    /**
     * Returns the class path of the variant's processes.
     *
     * @param builtInJars directory of the jars of Flink's built-in changelog
     */
    ClassPath classPath(Path builtInJars) throws IOException {
        return backend().classPath(builtInJars);
    }

    /**
     * Returns the task heap.
     *
     * @param planned heap of all other variants of the workload
     */
    MemorySize heap(MemorySize planned) {
        return this == AMPLE_HASHMAP ? planned.multiply(AMPLE) : planned;
    }

    /**
     * Returns the keys of {@code config.yaml} that are specific to the variant.
     *
     * @param storage URI of the directory of checkpoints and changelog
     * @param materializationInterval also the interval of rare checkpoints
     */
    Configuration configuration(String storage, Duration materializationInterval) {
        Configuration own =
                backend()
                        .configuration(
                                storage,
                                hasRareCheckpoints()
                                        ? materializationInterval
                                        : CHECKPOINT_INTERVAL);
        if (changelog != Changelog.NONE) {
            own.set(
                    StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL,
                    materializationInterval);
        }
        return own;
    }

    /** Returns the description for the report. */
    VariantDescription description() {
        VariantDescription description = new VariantDescription();
        description.label = label;
        // Spilled state is set against RocksDB, what one would take when the heap is too small, and
        // against a HashMap that has enough of it.
        boolean onHeap = delegate == Delegate.HASHMAP;
        description.plain = (onHeap ? PLAIN_HASHMAP : PLAIN_ROCKSDB).id;
        description.rare = rare().id;
        if (changelog == Changelog.DSTL) {
            description.builtIn = (onHeap ? BUILTIN_HASHMAP : BUILTIN_ROCKSDB).id;
        }
        return description;
    }

    private Backend backend() {
        return Backend.of(delegate, changelog);
    }

    private Variant rare() {
        switch (delegate) {
            case ROCKSDB:
                return RARE_ROCKSDB;
            case HASHMAP:
                return RARE_HASHMAP;
            case SPILLABLE:
                return AMPLE_HASHMAP;
        }
        throw new IllegalStateException(delegate.name());
    }

    private boolean hasRareCheckpoints() {
        return this == RARE_ROCKSDB
                || this == RARE_HASHMAP
                || this == RARE_SPILLABLE
                || this == AMPLE_HASHMAP;
    }
}
