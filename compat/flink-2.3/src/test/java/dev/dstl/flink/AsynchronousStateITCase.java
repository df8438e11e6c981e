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

package dev.dstl.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.dstl.endtoend.recovery.ClassHistogram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.management.JMException;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.v2.ValueState;
import org.apache.flink.api.common.state.v2.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job that uses the asynchronous state of Flink 2, over backends that have none of their own. */
class AsynchronousStateITCase {

    private static final long RECORDS = 20_000;
    private static final int FAILURES = 5;
    private static final long KEYS = 100;

    private static final int SUBTASKS = 2;

    private static final String BACKEND = "dev.dstl.changelog.backend.ChangelogKeyedStateBackend";
    private static final String CHANGELOG = "dev.dstl.log.writer.DstlLogWriter";
    private static final String BATCH = "dev.dstl.log.writer.TailBatch";

    /** Checkpoints of an attempt before it fails. */
    private static final int CHECKPOINTS = 8;

    /** Checkpoints of the last attempt, in the time of several materializations. */
    private static final int LAST_CHECKPOINTS = 60;

    /** What ends with an attempt takes a moment on other threads. */
    private static final int CHECKPOINTS_PER_LOOK = 20;

    private static final int MOST_CHECKPOINTS = 400;

    /** More than there are since the base before last. */
    private static final long BATCHES = 60;

    private static final Pattern OURS = Pattern.compile("dev\\.dstl\\.(?!flink\\.).*");

    @TempDir Path directory;

    @SuppressWarnings("try") // The iterator may be interrupted when it is closed.
    @ParameterizedTest
    @ValueSource(
            strings = {"hashmap", "rocksdb", "dev.dstl.spillable.SpillableStateBackendFactory"})
    void failingJob_countsEveryRecordOnce_andKeepsNothingOfItsFormerAttempts(String delegate)
            throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.type", delegate);
        configuration.setString("state.changelog.enabled", "true");
        configuration.setString("state.changelog.storage", "dstl");
        configuration.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        configuration.setString("state.changelog.dstl.inline-threshold", "0 b");
        configuration.setString("state.changelog.periodic-materialize.interval", "500 ms");
        configuration.setString(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
        configuration.setString("execution.checkpointing.interval", "100 ms");
        configuration.setString("execution.checkpointing.incremental", "true");
        configuration.setString("restart-strategy.type", "fixed-delay");
        configuration.setString("restart-strategy.fixed-delay.delay", "100 ms");
        configuration.setString("restart-strategy.fixed-delay.attempts", "100");
        configuration.setString("parallelism.default", String.valueOf(SUBTASKS));
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        CountPerKey.FAILURES_LEFT.set(FAILURES);
        CountPerKey.OBJECTS.clear();
        CountPerKey.OF_OTHERS.clear();
        CountPerKey.OF_OTHERS.putAll(ClassHistogram.of(OURS));

        TreeMap<Long, TreeSet<Long>> counts = new TreeMap<>();
        int results = 0;
        boolean hadChangelog = false;
        try (CloseableIterator<Tuple2<Long, Long>> all =
                environment
                        .fromSource(
                                new DataGeneratorSource<>(
                                        number -> number,
                                        RECORDS,
                                        parallelism -> new Gate(),
                                        Types.LONG),
                                WatermarkStrategy.noWatermarks(),
                                "numbers")
                        .keyBy(number -> number % KEYS)
                        .enableAsyncState()
                        .process(new CountPerKey())
                        .executeAndCollect()) {
            while (all.hasNext()) {
                Tuple2<Long, Long> one = all.next();
                counts.computeIfAbsent(one.f0, key -> new TreeSet<>()).add(one.f1);
                if (results++ == 0) {
                    // At the end of the job it is deleted.
                    hadChangelog = hasChangelogDirectory();
                }
            }
        }

        List<Long> expected =
                LongStream.rangeClosed(1, RECORDS / KEYS).boxed().collect(Collectors.toList());
        assertThat(results).isEqualTo((int) RECORDS);
        assertThat(counts).hasSize((int) KEYS);
        assertThat(counts.values())
                .allSatisfy(of -> assertThat(of).containsExactlyElementsOf(expected));
        assertThat(hadChangelog).as("directory of the changelog").isTrue();
        assertThat(CountPerKey.OBJECTS).containsKeys(BACKEND, CHANGELOG, BATCH);
        assertThat(CountPerKey.added(CountPerKey.OBJECTS, BACKEND))
                .as("backends")
                .isLessThanOrEqualTo(SUBTASKS);
        assertThat(CountPerKey.added(CountPerKey.OBJECTS, CHANGELOG))
                .as("changelogs")
                .isLessThanOrEqualTo(SUBTASKS);
        assertThat(CountPerKey.added(CountPerKey.OBJECTS, BATCH)).as("batches").isLessThan(BATCHES);
        await().atMost(Duration.ofSeconds(30))
                .pollInSameThread()
                .untilAsserted(
                        () -> {
                            Map<String, Long> left = ClassHistogram.of(OURS);
                            assertThat(CountPerKey.added(left, BACKEND)).isNotPositive();
                            assertThat(CountPerKey.added(left, CHANGELOG)).isNotPositive();
                        });
    }

    private boolean hasChangelogDirectory() throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("log"), 2)) {
            return files.anyMatch(file -> file.endsWith("dstl"));
        }
    }

    private static final class CountPerKey
            extends KeyedProcessFunction<Long, Long, Tuple2<Long, Long>>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;

        static final AtomicInteger FAILURES_LEFT = new AtomicInteger();

        /** Counted in the last attempt; empty before. */
        static final Map<String, Long> OBJECTS = new ConcurrentHashMap<>();

        /**
         * What Flink's own suites left in this process: backends that they do not close. Some may
         * be collected meanwhile.
         */
        static final Map<String, Long> OF_OTHERS = new ConcurrentHashMap<>();

        private transient ValueState<Long> count;
        private transient int checkpoints;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(
                Long number, Context context, Collector<Tuple2<Long, Long>> out) {
            long key = context.getCurrentKey();
            count.asyncValue()
                    .thenAccept(
                            before -> {
                                long next = before == null ? 1 : before + 1;
                                count.asyncUpdate(next)
                                        .thenAccept(done -> out.collect(Tuple2.of(key, next)));
                            });
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) throws JMException {
            checkpoints++;
            if (checkpoints == CHECKPOINTS
                    && FAILURES_LEFT.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalStateException("As the test wants it");
            }
            if (checkpoints >= LAST_CHECKPOINTS
                    && checkpoints % CHECKPOINTS_PER_LOOK == 0
                    && OBJECTS.isEmpty()) {
                Map<String, Long> objects = ClassHistogram.of(OURS);
                if (added(objects, BACKEND) <= SUBTASKS || checkpoints >= MOST_CHECKPOINTS) {
                    OBJECTS.putAll(objects);
                }
            }
        }

        /** Returns how many objects of a class there are that were not there before the job. */
        static long added(Map<String, Long> objects, String name) {
            return objects.getOrDefault(name, 0L) - OF_OTHERS.getOrDefault(name, 0L);
        }
    }

    /** The rate limiter of a source that holds back most records until the last attempt is over. */
    private static final class Gate implements RateLimiter<NumberSequenceSplit> {

        @Override
        public CompletionStage<Void> acquire(int records) {
            if (!CountPerKey.OBJECTS.isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            Executor later = CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS);
            return CompletableFuture.runAsync(() -> {}, later);
        }
    }
}
