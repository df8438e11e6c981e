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

package dev.dstl.changelog;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A job with a changelog in batch mode, where there are no checkpoints. */
class BatchModeITCase {

    private static final long RECORDS = 10_000;
    private static final long KEYS = 100;

    @TempDir private Path directory;

    /** How a job enables the changelog. */
    enum Way {
        FLAG {
            @Override
            void choose(Configuration cluster) {
                cluster.setString("state.changelog.enabled", "true");
            }
        },
        FACTORY {
            @Override
            void choose(Configuration cluster) {
                cluster.setString("state.backend.type", DstlStateBackendFactory.class.getName());
                cluster.setString("state.changelog.dstl.delegate", "hashmap");
            }
        },
        FACADE {
            @Override
            @SuppressWarnings("deprecation") // Flink's one way to give a backend as an object.
            void choose(StreamExecutionEnvironment job) {
                job.setStateBackend(new DstlStateBackend(new HashMapStateBackend()));
            }
        },
        /** With the streaming state backend instead of the one for sorted input. */
        FLAG_WITHOUT_SORTED_INPUT {
            @Override
            void choose(Configuration cluster) {
                cluster.setString("state.changelog.enabled", "true");
                cluster.set(ExecutionOptions.SORT_INPUTS, false);
                cluster.set(ExecutionOptions.USE_BATCH_STATE_BACKEND, false);
            }
        };

        void choose(Configuration cluster) {}

        void choose(StreamExecutionEnvironment job) {}
    }

    @ParameterizedTest
    @EnumSource
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    void changelogInBatchMode_isNotThere_andTheResultIsRight(Way way) throws Exception {
        Configuration cluster = new Configuration();
        cluster.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        cluster.setString("state.changelog.storage", "dstl");
        cluster.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        way.choose(cluster);
        Map<Long, Long> found = new TreeMap<>();
        try (StreamExecutionEnvironment job =
                StreamExecutionEnvironment.createLocalEnvironment(2, cluster)) {
            way.choose(job);
            try (CloseableIterator<Tuple2<Long, Long>> sums =
                    job.fromSequence(1, RECORDS)
                            .map(number -> Tuple2.of(number % KEYS, number))
                            .returns(Types.TUPLE(Types.LONG, Types.LONG))
                            .keyBy(number -> number.f0)
                            .sum(1)
                            .executeAndCollect()) {
                sums.forEachRemaining(sum -> found.merge(sum.f0, sum.f1, Math::max));
            }
        }
        assertThat(found).isEqualTo(expected());
        assertThat(directory.resolve("log")).doesNotExist();
    }

    private static Map<Long, Long> expected() {
        Map<Long, Long> expected = new TreeMap<>();
        for (long number = 1; number <= RECORDS; number++) {
            expected.merge(number % KEYS, number, Long::sum);
        }
        return expected;
    }
}
