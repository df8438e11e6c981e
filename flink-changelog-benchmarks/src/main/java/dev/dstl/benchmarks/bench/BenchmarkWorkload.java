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

import static dev.dstl.benchmarks.bench.Variant.AMPLE_HASHMAP;
import static dev.dstl.benchmarks.bench.Variant.BUILTIN_HASHMAP;
import static dev.dstl.benchmarks.bench.Variant.BUILTIN_ROCKSDB;
import static dev.dstl.benchmarks.bench.Variant.DSTL_HASHMAP;
import static dev.dstl.benchmarks.bench.Variant.DSTL_ROCKSDB;
import static dev.dstl.benchmarks.bench.Variant.DSTL_SPILLABLE;
import static dev.dstl.benchmarks.bench.Variant.PLAIN_HASHMAP;
import static dev.dstl.benchmarks.bench.Variant.PLAIN_ROCKSDB;
import static dev.dstl.benchmarks.bench.Variant.RARE_HASHMAP;
import static dev.dstl.benchmarks.bench.Variant.RARE_ROCKSDB;
import static dev.dstl.benchmarks.bench.Variant.RARE_SPILLABLE;

import dev.dstl.benchmarks.job.JobPlan;
import dev.dstl.benchmarks.job.NewKeysJob;
import dev.dstl.benchmarks.job.SlidingWindowJob;
import dev.dstl.benchmarks.job.WordCountJob;
import java.util.List;
import org.apache.flink.configuration.MemorySize;

/** A job with its load and memory, and the variants on which it is measured. */
enum BenchmarkWorkload {
    NEW_KEYS(
            "new-keys",
            "ValueState of 80 random bytes, nine of ten keys new, 30,000 records/s",
            512) {
        @Override
        JobPlan job(Mode mode) {
            return JobPlan.atRate(new NewKeysJob(), 30_000);
        }

        @Override
        List<Variant> variants(Mode mode) {
            return fixedRate(mode);
        }
    },
    SLIDING_WINDOW(
            "sliding-window",
            "raw records of 80 bytes in processing-time windows of 10 s every second, 1,000 keys,"
                    + " 10,000 records/s",
            512) {
        @Override
        JobPlan job(Mode mode) {
            return JobPlan.atRate(new SlidingWindowJob(1_000), 10_000);
        }

        @Override
        List<Variant> variants(Mode mode) {
            return fixedRate(mode);
        }
    },
    WORD_COUNT(
            "word-count",
            "WordCount at maximum rate; words of 16 characters, 2 million (--quick: 500,000)",
            2048) {
        @Override
        JobPlan job(Mode mode) {
            return JobPlan.atMaximumRate(new WordCountJob(mode == Mode.FULL ? 2_000_000 : 500_000));
        }

        @Override
        List<Variant> variants(Mode mode) {
            return mode == Mode.FULL
                    ? List.of(
                            PLAIN_ROCKSDB,
                            RARE_ROCKSDB,
                            BUILTIN_ROCKSDB,
                            DSTL_ROCKSDB,
                            PLAIN_HASHMAP,
                            RARE_HASHMAP,
                            BUILTIN_HASHMAP,
                            DSTL_HASHMAP)
                    : List.of(
                            RARE_ROCKSDB,
                            BUILTIN_ROCKSDB,
                            DSTL_ROCKSDB,
                            RARE_HASHMAP,
                            BUILTIN_HASHMAP,
                            DSTL_HASHMAP);
        }
    },
    WORD_COUNT_LIMITED_HEAP(
            "word-count-limited-heap",
            "WordCount at maximum rate; 4 million words (--quick: 2 million) of 16 characters,"
                    + " which a HashMap of the same memory cannot hold",
            256) {
        @Override
        JobPlan job(Mode mode) {
            return JobPlan.atMaximumRate(
                    new WordCountJob(mode == Mode.FULL ? 4_000_000 : 2_000_000));
        }

        @Override
        List<Variant> variants(Mode mode) {
            return mode == Mode.FULL
                    ? List.of(
                            PLAIN_ROCKSDB,
                            BUILTIN_ROCKSDB,
                            DSTL_ROCKSDB,
                            AMPLE_HASHMAP,
                            RARE_SPILLABLE,
                            DSTL_SPILLABLE,
                            PLAIN_HASHMAP)
                    : List.of(PLAIN_ROCKSDB, DSTL_SPILLABLE);
        }

        @Override
        boolean mayFailOn(Variant variant) {
            return variant == PLAIN_HASHMAP;
        }
    };

    private final String id;
    private final String description;
    private final long heapMebibytes;

    BenchmarkWorkload(String id, String description, long heapMebibytes) {
        this.id = id;
        this.description = description;
        this.heapMebibytes = heapMebibytes;
    }

    /** Returns the job and its input rate. */
    abstract JobPlan job(Mode mode);

    /** Returns the variants that a mode measures, in order. */
    abstract List<Variant> variants(Mode mode);

    /** Returns the name on the command line and in files. */
    String id() {
        return id;
    }

    /** Returns a description for reports. */
    String description() {
        return description;
    }

    /** Returns the task heap of the TaskManager. */
    MemorySize heap() {
        return MemorySize.ofMebiBytes(heapMebibytes);
    }

    /** Returns whether a failure of the variant is a result and not a defect of the benchmark. */
    boolean mayFailOn(Variant variant) {
        return false;
    }

    private static List<Variant> fixedRate(Mode mode) {
        switch (mode) {
            case SMOKE:
                return List.of(BUILTIN_ROCKSDB, DSTL_ROCKSDB);
            case QUICK:
                return List.of(PLAIN_ROCKSDB, BUILTIN_ROCKSDB, DSTL_ROCKSDB);
            case FULL:
                return List.of(PLAIN_ROCKSDB, BUILTIN_ROCKSDB, DSTL_ROCKSDB, PLAIN_HASHMAP);
        }
        throw new IllegalStateException(mode.name());
    }
}
