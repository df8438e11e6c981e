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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.changelog.fixture.LocalRecovery;
import dev.dstl.log.config.DstlOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** End-to-end jobs on Flink's own cluster in this process. */
class ChangelogJobITCase {

    private static final int KEYS = 50;
    private static final long RECORDS = 100_000;

    @TempDir private Path directory;

    /** How a job can enable the changelog. */
    enum Way {
        FLAG_ON_HEAP {
            @Override
            void choose(Configuration configuration, StreamExecutionEnvironment job) {
                configuration.setString("state.backend.type", "hashmap");
                configuration.setString("execution.checkpointing.unaligned.enabled", "true");
            }
        },
        FLAG_ON_ROCKSDB_WITH_TIMERS_ON_HEAP {
            @Override
            void choose(Configuration configuration, StreamExecutionEnvironment job) {
                configuration.setString("state.backend.type", "rocksdb");
                configuration.setString("state.backend.rocksdb.timer-service.factory", "HEAP");
                configuration.setString("execution.checkpointing.max-concurrent-checkpoints", "3");
                configuration.setString("state.backend.incremental", "true");
            }
        },
        FACADE_ON_ROCKSDB {
            @Override
            void choose(Configuration configuration, StreamExecutionEnvironment job) {
                if (job != null) {
                    useFacade(job);
                }
                configuration.setString("state.changelog.enabled", "false");
            }
        },
        FACTORY {
            @Override
            void choose(Configuration configuration, StreamExecutionEnvironment job) {
                configuration.setString(
                        "state.backend.type", DstlStateBackendFactory.class.getName());
                configuration.setString("state.changelog.dstl.delegate", "hashmap");
                configuration.setString("state.changelog.enabled", "false");
            }
        };

        /** Called with the configuration of the cluster, and again with the job. */
        abstract void choose(Configuration configuration, StreamExecutionEnvironment job);

        @SuppressWarnings("deprecation") // Flink's one way to give a backend as an object.
        static void useFacade(StreamExecutionEnvironment job) {
            job.setStateBackend(new DstlStateBackend(new EmbeddedRocksDBStateBackend(true)));
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    void jobThatFails_countsEveryRecordOnce(Way way) throws Exception {
        Configuration cluster = cluster();
        cluster.setString("state.changelog.storage", "dstl");
        cluster.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        way.choose(cluster, null);

        try (StreamExecutionEnvironment job = job(cluster)) {
            way.choose(new Configuration(), job);
            Sums.failures.set(2);

            Map<Long, Long> found = run(job);

            assertThat(Sums.failures).hasValue(0);
            assertThat(found).isEqualTo(expected());
            assertThat(directory.resolve("log")).as("the changelog was in use").isDirectory();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"FLAG_ON_HEAP", "FLAG_ON_ROCKSDB_WITH_TIMERS_ON_HEAP"})
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    void jobWithLocalRecovery_readsNothingFromTheStoreWhenATaskFails(Way way) throws Exception {
        Configuration cluster = cluster();
        LocalRecovery.configure(cluster, directory);
        way.choose(cluster, null);
        AtomicInteger refused = LocalRecovery.refuseOtherReads();

        try (StreamExecutionEnvironment job = job(cluster)) {
            Sums.failures.set(2);

            assertThat(run(job)).isEqualTo(expected());

            assertThat(Sums.failures).hasValue(0);
            assertThat(refused).hasValue(0);
        } finally {
            GuardedFileSystem.reset();
        }
    }

    @Test
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    void storageLeftAtMemory_failsTheJobWithoutARestart_sayingWhatToSet() throws Exception {
        try (StreamExecutionEnvironment job = job(cluster())) {
            assertThatThrownBy(() -> run(job))
                    .hasStackTraceContaining(
                            "'state.changelog.storage: memory' keeps the changelog in memory")
                    .hasStackTraceContaining("set it to 'dstl'");
        }
    }

    @Test
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    void wrongValueForTheLog_failsTheJobWithoutARestart_sayingWhichKey() throws Exception {
        Configuration cluster = cluster();
        cluster.setString("state.changelog.storage", "dstl");
        cluster.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        cluster.set(DstlOptions.UPLOAD_THREADS, 0);
        try (StreamExecutionEnvironment job = job(cluster)) {
            assertThatThrownBy(() -> run(job))
                    .hasStackTraceContaining("'" + DstlOptions.UPLOAD_THREADS.key() + "' is 0");
        }
    }

    private Configuration cluster() {
        Configuration cluster = new Configuration();
        cluster.setString("state.changelog.enabled", "true");
        cluster.setString("state.changelog.periodic-materialize.interval", "300 ms");
        cluster.setString("execution.checkpointing.storage", "filesystem");
        cluster.setString(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
        cluster.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        cluster.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 50);
        cluster.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
        return cluster;
    }

    private static StreamExecutionEnvironment job(Configuration cluster) {
        StreamExecutionEnvironment job =
                StreamExecutionEnvironment.createLocalEnvironment(2, cluster);
        job.enableCheckpointing(50);
        return job;
    }

    @SuppressWarnings("try") // close() is declared with Exception by Flink
    private static Map<Long, Long> run(StreamExecutionEnvironment job) throws Exception {
        Map<Long, Long> found = new TreeMap<>();
        try (CloseableIterator<Tuple2<Long, Long>> results =
                job.fromSequence(1, RECORDS)
                        .map(new Pace())
                        .keyBy(number -> number % KEYS)
                        .process(new Sums())
                        .executeAndCollect()) {
            while (results.hasNext()) {
                Tuple2<Long, Long> result = results.next();
                assertThat(found.put(result.f0, result.f1)).as("a timer fired twice").isNull();
            }
        }
        return found;
    }

    private static Map<Long, Long> expected() {
        Map<Long, Long> expected = new TreeMap<>();
        for (long number = 1; number <= RECORDS; number++) {
            expected.merge(number % KEYS, number, Long::sum);
        }
        return expected;
    }

    /**
     * Slows the source down, not the sums: barriers must not queue behind records. It does not come
     * to the end of the input before the sums have failed, however long checkpoints take.
     */
    private static final class Pace implements MapFunction<Long, Long> {
        private static final long serialVersionUID = 1L;

        private static final int FAST_RECORDS = 20_000;

        private transient int records;

        @Override
        public Long map(Long number) throws Exception {
            if (Sums.failures.get() > 0) {
                if (++records % 100 == 0 || records > FAST_RECORDS) {
                    Thread.sleep(20);
                }
            }
            return number;
        }
    }

    /** Sums per key, emitted by a timer at the end of the input; fails a few times. */
    private static final class Sums extends KeyedProcessFunction<Long, Long, Tuple2<Long, Long>>
            implements CheckpointListener {
        private static final long serialVersionUID = 1L;

        static final AtomicInteger failures = new AtomicInteger();

        private transient ValueState<Long> sum;
        private transient MapState<Long, Long> lastDigits;
        private transient int checkpoints;

        @Override
        public void open(org.apache.flink.api.common.functions.OpenContext context) {
            sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Long.class));
            lastDigits =
                    getRuntimeContext()
                            .getMapState(
                                    new MapStateDescriptor<>(
                                            "last digits", Long.class, Long.class));
        }

        @Override
        public void processElement(
                Long number, Context context, Collector<Tuple2<Long, Long>> results)
                throws Exception {
            Long soFar = sum.value();
            if (soFar == null) {
                context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
            }
            sum.update((soFar == null ? 0 : soFar) + number);
            Long digit = lastDigits.get(number % 10);
            lastDigits.put(number % 10, (digit == null ? 0 : digit) + number);
            if (checkpoints >= 3 && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalStateException("A failure of the test's own");
            }
        }

        @Override
        public void onTimer(long time, OnTimerContext context, Collector<Tuple2<Long, Long>> out)
                throws Exception {
            long digits = 0;
            for (long part : lastDigits.values()) {
                digits += part;
            }
            if (digits != sum.value()) {
                throw new IllegalStateException(
                        "The states of one key differ: " + digits + " and " + sum.value());
            }
            out.collect(Tuple2.of(context.getCurrentKey(), digits));
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            checkpoints++;
        }
    }
}
