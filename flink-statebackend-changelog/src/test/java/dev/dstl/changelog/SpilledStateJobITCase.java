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
import dev.dstl.spillable.SpilledBackendFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** End-to-end jobs with incremental checkpoints of the spillable heap and local recovery. */
@Timeout(180)
class SpilledStateJobITCase {

    private static final int KEYS = 48;
    private static final int KEY_GROUPS = 4;
    private static final long RECORDS = 20_000;
    private static final int FAILURES = 2;

    @TempDir private Path directory;

    @ParameterizedTest(name = "changelog {0}")
    @ValueSource(booleans = {false, true})
    void jobWithLocalRecovery_readsNoSpilledStateFromTheStoreWhenATaskFails(boolean changelog)
            throws Exception {
        AtomicInteger refused = LocalRecovery.refuseOtherReads();

        assertThat(run(changelog, () -> {})).isEqualTo(expected());

        assertThat(refused).as("reads that were not local").hasValue(0);
    }

    @ParameterizedTest(name = "changelog {0}")
    @ValueSource(booleans = {false, true})
    void jobWhoseLocalCopiesAreDamaged_restoresSpilledStateFromTheStore(boolean changelog)
            throws Exception {
        AtomicInteger reads = new AtomicInteger();
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (call == GuardedFileSystem.Call.OPEN && isOfSpilledState(path)) {
                        reads.incrementAndGet();
                    }
                });

        assertThat(run(changelog, this::truncateLocalCopies)).isEqualTo(expected());

        assertThat(reads).as("reads of spilled state").hasPositiveValue();
    }

    /** Flink deletes other copies meanwhile. */
    private void truncateLocalCopies() {
        try {
            Files.walkFileTree(
                    directory.resolve("local"),
                    new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                                throws IOException {
                            if (file.endsWith("directory")) {
                                try (FileChannel one =
                                        FileChannel.open(file, StandardOpenOption.WRITE)) {
                                    one.truncate(3);
                                } catch (NoSuchFileException deleted) {
                                    return FileVisitResult.CONTINUE;
                                }
                            }
                            return FileVisitResult.CONTINUE;
                        }

                        @Override
                        public FileVisitResult visitFileFailed(Path file, IOException deleted) {
                            return FileVisitResult.CONTINUE;
                        }

                        @Override
                        public FileVisitResult postVisitDirectory(Path path, IOException deleted) {
                            return FileVisitResult.CONTINUE;
                        }
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Shorter files are part of a checkpoint's metadata; a changelog's base is "taskowned". */
    private static boolean isOfSpilledState(org.apache.flink.core.fs.Path path) {
        String parent = path.getParent().getName();
        return parent.equals("shared") || parent.equals("taskowned");
    }

    @SuppressWarnings("try") // close() is declared with Exception by Flink
    private Map<Long, Long> run(boolean changelog, Runnable beforeFailure) throws Exception {
        Sums.failures.set(FAILURES);
        Sums.spilledFiles.set(0);
        Sums.beforeFailure = beforeFailure;
        GuardedFileSystem.guard(
                (call, path) -> {
                    if (call == GuardedFileSystem.Call.CLOSE && isOfSpilledState(path)) {
                        Sums.spilledFiles.incrementAndGet();
                    }
                });
        Map<Long, Long> found = new TreeMap<>();
        try (StreamExecutionEnvironment job =
                        StreamExecutionEnvironment.createLocalEnvironment(2, cluster(changelog));
                CloseableIterator<Tuple2<Long, Long>> results = results(job)) {
            while (results.hasNext()) {
                Tuple2<Long, Long> result = results.next();
                assertThat(found.put(result.f0, result.f1)).as("a timer fired twice").isNull();
            }
        }
        assertThat(Sums.failures).hasValue(0);
        return found;
    }

    @AfterEach
    void removeGuards() {
        GuardedFileSystem.reset();
    }

    private Configuration cluster(boolean changelog) {
        Configuration cluster = new Configuration();
        cluster.setString("state.backend.type", SpilledBackendFactory.class.getName());
        cluster.setString("execution.checkpointing.incremental", "true");
        cluster.setString("state.changelog.enabled", String.valueOf(changelog));
        LocalRecovery.configure(cluster, directory);
        cluster.setString("state.changelog.periodic-materialize.interval", "200 ms");
        cluster.setString("execution.checkpointing.storage", "filesystem");
        cluster.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        // No more than the test's own.
        cluster.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, FAILURES);
        cluster.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
        return cluster;
    }

    private static CloseableIterator<Tuple2<Long, Long>> results(StreamExecutionEnvironment job)
            throws Exception {
        job.enableCheckpointing(50);
        job.setMaxParallelism(KEY_GROUPS);
        return job.fromSequence(1, RECORDS)
                .map(new Pace())
                .keyBy(number -> number % KEYS)
                .process(new Sums())
                .executeAndCollect();
    }

    private static Map<Long, Long> expected() {
        Map<Long, Long> expected = new TreeMap<>();
        for (long number = 1; number <= RECORDS; number++) {
            expected.merge(number % KEYS, number, Long::sum);
        }
        return expected;
    }

    /** Holds back the end of the input until the sums have failed. */
    private static final class Pace implements MapFunction<Long, Long> {
        private static final long serialVersionUID = 1L;

        private static final int FAST_RECORDS = 3_000;

        private transient int records;

        @Override
        public Long map(Long number) throws Exception {
            if (Sums.failures.get() > 0 && (++records % 30 == 0 || records > FAST_RECORDS)) {
                Thread.sleep(20);
            }
            return number;
        }
    }

    /**
     * Sums per key in values so long that partitions are sealed, emitted by a timer at the end of
     * the input. Fails a few times, after checkpoints with files of spilled state.
     */
    private static final class Sums extends KeyedProcessFunction<Long, Long, Tuple2<Long, Long>>
            implements CheckpointListener {
        private static final long serialVersionUID = 1L;

        private static final int CHECKPOINTS = 6;
        private static final String FILLER = "0123456789abcdef".repeat(256);

        static final AtomicInteger failures = new AtomicInteger();
        static final AtomicInteger spilledFiles = new AtomicInteger();
        static Runnable beforeFailure;

        private transient ValueState<String> sum;
        private transient int checkpoints;

        @Override
        public void open(OpenContext context) {
            sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", String.class));
        }

        private long soFar() throws Exception {
            String text = sum.value();
            return text == null ? 0 : Long.parseLong(text.substring(FILLER.length()));
        }

        @Override
        public void processElement(
                Long number, Context context, Collector<Tuple2<Long, Long>> results)
                throws Exception {
            long soFar = soFar();
            if (soFar == 0) {
                context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
            }
            sum.update(FILLER + (soFar + number));
            if (checkpoints >= CHECKPOINTS
                    && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                beforeFailure.run();
                throw new IllegalStateException("A failure of the test's own");
            }
        }

        @Override
        public void onTimer(long time, OnTimerContext context, Collector<Tuple2<Long, Long>> out)
                throws Exception {
            out.collect(Tuple2.of(context.getCurrentKey(), soFar()));
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (spilledFiles.get() > 4) {
                checkpoints++;
            }
        }
    }
}
