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

import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.changelog.fixture.LocalRecovery;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two keyed operators in one task, with local recovery, in an end-to-end job whose task fails. */
@Timeout(180)
class ChainedOperatorsJobITCase {

    private static final int KEYS = 50;
    private static final long RECORDS = 60_000;
    private static final int FAILURES = 2;

    @TempDir private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"hashmap", "rocksdb"})
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    void chainWhoseTaskFails_restoresBothOperatorsFromTheLocalDisk_andCountsEveryRecordOnce(
            String delegate) throws Exception {
        AtomicInteger refused = LocalRecovery.refuseOtherReads();
        Count.failures.set(FAILURES);
        Count.disturbed = true;
        Map<Long, Tuple2<Long, Long>> found = new TreeMap<>();
        try (StreamExecutionEnvironment job =
                StreamExecutionEnvironment.createLocalEnvironment(2, cluster(delegate))) {
            job.enableCheckpointing(50);
            DataStream<Tuple2<Long, Tuple2<Long, Long>>> results = chain(job);
            assertThat(job.getStreamGraph(false).getJobGraph().getVertices())
                    .as("both operators are in one task")
                    .anyMatch(v -> v.getName().contains("count") && v.getName().contains("sum"));
            try (CloseableIterator<Tuple2<Long, Tuple2<Long, Long>>> all =
                    results.executeAndCollect()) {
                all.forEachRemaining(
                        result ->
                                assertThat(found.put(result.f0, result.f1))
                                        .as("a timer fired twice")
                                        .isNull());
            }
        } finally {
            GuardedFileSystem.reset();
        }
        assertThat(Count.failures).hasValue(0);
        assertThat(refused).as("reads that were not local").hasValue(0);
        assertThat(found).isEqualTo(expected());
    }

    private Configuration cluster(String delegate) {
        Configuration cluster = new Configuration();
        cluster.setString("state.backend.type", delegate);
        cluster.setString("execution.checkpointing.incremental", "true");
        cluster.setString("state.changelog.enabled", "true");
        LocalRecovery.configure(cluster, directory);
        // Each operator has a rhythm of its own, so that they differ in what they materialized.
        cluster.setString("state.changelog.periodic-materialize.interval", "200 ms");
        cluster.setString("execution.checkpointing.storage", "filesystem");
        cluster.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        // No more than the test's own.
        cluster.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, FAILURES);
        cluster.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
        return cluster;
    }

    private static DataStream<Tuple2<Long, Tuple2<Long, Long>>> chain(
            StreamExecutionEnvironment job) {
        DataStream<Tuple2<Long, Long>> counted =
                job.fromSequence(1, RECORDS)
                        .map(new Pace())
                        .keyBy(number -> number % KEYS)
                        .process(new Count())
                        .name("count");
        return DataStreamUtils.reinterpretAsKeyedStream(
                        counted, numbered -> numbered.f0 % KEYS, Types.LONG)
                .process(new Sum())
                .name("sum");
    }

    /** Expected results by key: sum of the numbers, and sum of their positions. */
    private static Map<Long, Tuple2<Long, Long>> expected() {
        Map<Long, Tuple2<Long, Long>> expected = new TreeMap<>();
        for (long key = 0; key < KEYS; key++) {
            long numbers = 0;
            long sums = 0;
            long count = 0;
            for (long number = key == 0 ? KEYS : key; number <= RECORDS; number += KEYS) {
                numbers += number;
                sums += ++count;
            }
            expected.put(key, Tuple2.of(numbers, sums));
        }
        return expected;
    }

    /**
     * Holds back the end of the input until the operators have failed and run again. A source that
     * asks for more splits as tasks fail may lose the answer on Flink 2.3.0, and the next
     * checkpoint then waits for it: from the second failure on, checkpoints in progress are aborted
     * too late.
     */
    private static final class Pace implements MapFunction<Long, Long> {
        private static final long serialVersionUID = 1L;

        private static final int FAST_RECORDS = 10_000;

        private transient int records;

        @Override
        public Long map(Long number) throws Exception {
            if (Count.disturbed && (++records % 100 == 0 || records > FAST_RECORDS)) {
                Thread.sleep(20);
            }
            return number;
        }
    }

    /** Numbers the records of a key; fails a few times after both operators have materialized. */
    private static final class Count extends KeyedProcessFunction<Long, Long, Tuple2<Long, Long>>
            implements CheckpointListener {
        private static final long serialVersionUID = 1L;

        private static final int CHECKPOINTS = 8;

        static final AtomicInteger failures = new AtomicInteger();
        static volatile boolean disturbed;

        private transient ValueState<Long> count;
        private transient int checkpoints;

        @Override
        public void open(OpenContext context) {
            disturbed = failures.get() > 0;
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
        }

        @Override
        public void processElement(
                Long number, Context context, Collector<Tuple2<Long, Long>> numbered)
                throws Exception {
            Long before = count.value();
            long now = before == null ? 1 : before + 1;
            count.update(now);
            numbered.collect(Tuple2.of(number, now));
            if (checkpoints >= CHECKPOINTS
                    && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalStateException("A failure of the test's own");
            }
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            checkpoints++;
        }
    }

    /** Adds the numbers, and emits the sums at the end of the input. */
    private static final class Sum
            extends KeyedProcessFunction<
                    Long, Tuple2<Long, Long>, Tuple2<Long, Tuple2<Long, Long>>> {
        private static final long serialVersionUID = 1L;

        private transient ValueState<Long> numbers;
        private transient ValueState<Long> counts;

        @Override
        public void open(OpenContext context) {
            numbers =
                    getRuntimeContext().getState(new ValueStateDescriptor<>("numbers", Long.class));
            counts = getRuntimeContext().getState(new ValueStateDescriptor<>("counts", Long.class));
        }

        @Override
        public void processElement(
                Tuple2<Long, Long> numbered,
                Context context,
                Collector<Tuple2<Long, Tuple2<Long, Long>>> out)
                throws Exception {
            Long before = numbers.value();
            if (before == null) {
                context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
            }
            numbers.update((before == null ? 0 : before) + numbered.f0);
            Long counted = counts.value();
            counts.update((counted == null ? 0 : counted) + numbered.f1);
        }

        @Override
        public void onTimer(
                long time, OnTimerContext context, Collector<Tuple2<Long, Tuple2<Long, Long>>> out)
                throws Exception {
            out.collect(
                    Tuple2.of(context.getCurrentKey(), Tuple2.of(numbers.value(), counts.value())));
        }
    }
}
