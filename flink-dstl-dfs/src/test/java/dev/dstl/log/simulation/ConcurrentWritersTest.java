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

package dev.dstl.log.simulation;

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Many tasks on one storage, each on its own thread, with a store that fails and hangs at random:
 * every completed checkpoint can be read and is exact, nothing that a checkpoint contains is
 * deleted, and at the end no other files or bytes in flight are left.
 */
@Timeout(120)
class ConcurrentWritersTest {

    private static final int TASKS = 8;
    private static final int STEPS = 250;

    /** Sum over all seeds. The number per seed depends on thread scheduling. */
    private static final AtomicLong COMPACTIONS = new AtomicLong();

    @AfterAll
    static void logsWereCompacted() {
        assertThat(COMPACTIONS).hasPositiveValue();
    }

    @ParameterizedTest
    @CsvSource({
        "1, until-success, 0",
        "2, until-success, 0",
        "3, until-success, 0",
        "4, fixed, 0",
        "5, fixed, 0",
        "6, none, 0",
        "7, until-success, 300",
        "8, until-success, 1000",
        "9, fixed, 300",
        "10, none, 1000",
    })
    void everyCompletedCheckpointIsExact_andNothingElseIsLeft(
            long seed, String policy, long inlineBytes) throws Exception {
        // With little memory tasks are stopped, with more of it logs are compacted.
        long inFlightBytes = seed % 2 == 0 ? 4_000 : 100_000;
        LogFixture log =
                LogFixture.onThreads(
                        new Configuration()
                                .set(DstlOptions.RETRY_POLICY, policy)
                                .set(DstlOptions.INLINE_THRESHOLD, new MemorySize(inlineBytes))
                                .set(DstlOptions.MAX_ATTEMPTS, 2)
                                .set(DstlOptions.UPLOAD_THREADS, 3)
                                .set(DstlOptions.MAX_SLOW_ATTEMPTS, 4)
                                .set(DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD, new MemorySize(500))
                                .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(2_000))
                                .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(inFlightBytes))
                                .set(DstlOptions.COMPACTION_MIN_RUNS, 2)
                                .set(DstlOptions.MAX_AGE, Duration.ofMillis(50)));
        Random faults = new Random(seed);
        log.store().failBy(path -> randomFault(faults));
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newCachedThreadPool();
        Future<?> time = threads.submit(() -> passTime(log, over));
        try {
            List<Future<Task>> tasks = new ArrayList<>();
            for (int task = 0; task < TASKS; task++) {
                Random random = new Random(seed * 1_000 + task);
                boolean compacts = task % 2 == 0;
                tasks.add(
                        threads.submit(
                                (Callable<Task>) () -> new Task(log, random, compacts).run()));
            }
            Set<String> handedOver = new TreeSet<>();
            int completed = 0;
            for (Future<Task> task : tasks) {
                for (Checkpoint checkpoint : task.get().checkpoints) {
                    if (checkpoint.verify()) {
                        handedOver.addAll(filesOf(checkpoint.handle()));
                        completed++;
                    }
                }
            }
            assertThat(completed).as("completed checkpoints").isGreaterThan(TASKS);
            COMPACTIONS.addAndGet(log.metrics().count("numberOfCompactions"));
            assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
            awaitFiles(log, handedOver);
        } finally {
            over.set(true);
            time.get();
            threads.shutdownNow();
            log.close();
        }
    }

    private static synchronized WriteFault randomFault(Random random) {
        switch (random.nextInt(12)) {
            case 0:
                return WriteFault.FAIL_ON_CREATE;
            case 1:
                return WriteFault.FAIL_ON_WRITE;
            case 2:
                return WriteFault.FAIL_ON_CLOSE;
            case 3:
                return WriteFault.FAIL_ON_CLOSE_BUT_STORE;
            case 4:
                return WriteFault.HANG;
            case 5:
                return WriteFault.HANG_THEN_FAIL;
            default:
                return WriteFault.NONE;
        }
    }

    private static void passTime(LogFixture log, AtomicBoolean over) {
        for (int tick = 0; !over.get(); tick++) {
            log.timers().advanceMillis(10);
            if (tick % 300 == 0) {
                log.store().releaseHanging();
            }
            LockSupport.parkNanos(100_000);
        }
        log.store().releaseHanging();
    }

    private static void awaitFiles(LogFixture log, Set<String> expected)
            throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        Set<String> files = files(log);
        while (!files.equals(expected) && System.nanoTime() < deadline) {
            Thread.sleep(1);
            files = files(log);
        }
        assertThat(files).as("segments left").isEqualTo(expected);
    }

    private static Set<String> files(LogFixture log) {
        Set<String> files = new TreeSet<>();
        for (Path segment : log.store().segments()) {
            files.add(segment.toString());
        }
        return files;
    }

    /** A checkpoint and what it should contain. */
    private static final class Checkpoint {
        private final CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist;
        private final List<String> expected;

        private Checkpoint(
                CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist,
                List<String> expected) {
            this.persist = persist;
            this.expected = expected;
        }

        /** Returns false if there is nothing to read. */
        private boolean verify() throws Exception {
            assertThat(persist).as("a checkpoint never hangs").isDone();
            if (persist.isCompletedExceptionally() || expected.isEmpty()) {
                return false;
            }
            assertThat(texts(handle())).isEqualTo(expected);
            return true;
        }

        private ChangelogStateHandleStreamImpl handle() {
            return persist.join().getJobManagerOwnedSnapshot();
        }
    }

    /** Tasks that run one after the other on a thread: append, persist, truncate, end, restart. */
    private static final class Task {
        private final LogFixture log;
        private final Random random;
        private final boolean compacts;
        private final List<Checkpoint> checkpoints = new ArrayList<>();

        /** Expected records, by the lower bound of their sequence numbers. */
        private final TreeMap<Long, List<String>> model = new TreeMap<>();

        /**
         * Where a persist may begin, if the changelog compacts; the first is where the changelog
         * begins.
         */
        private final TreeSet<Long> marks = new TreeSet<>();

        private DstlLogWriter writer;
        private int appended;

        private Task(LogFixture log, Random random, boolean compacts) {
            this.log = log;
            this.random = random;
            this.compacts = compacts;
        }

        private Task run() throws Exception {
            startLog();
            for (int step = 0; step < STEPS; step++) {
                step();
            }
            persist();
            awaitLastCheckpoint();
            writer.truncateAndClose(writer.initialSequenceNumber());
            return this;
        }

        private void awaitLastCheckpoint() throws Exception {
            CompletableFuture<?> last = checkpoints.get(checkpoints.size() - 1).persist;
            last.handle((result, failure) -> null).get(60, TimeUnit.SECONDS);
        }

        private void step() throws Exception {
            int dice = random.nextInt(100);
            if (dice < 70) {
                appendSome();
            } else if (dice < 75) {
                // Or a slow machine might have every checkpoint overtaken by the end of its task.
                persist();
                awaitLastCheckpoint();
            } else if (dice < 90) {
                persist();
            } else if (dice < 98) {
                truncate();
            } else {
                writer.close();
                startLog();
            }
        }

        private void startLog() {
            writer = log.writer();
            model.clear();
            marks.clear();
            if (compacts) {
                mark();
            }
        }

        /** Records a position at which a persist may begin. */
        private void mark() {
            writer.addCompactionBoundary();
            marks.add(next());
        }

        private void appendSome() {
            List<String> texts = model.computeIfAbsent(next(), number -> new ArrayList<>());
            int count = random.nextInt(6);
            for (int i = 0; i < count; i++) {
                String text = "record " + appended++ + "x".repeat(random.nextInt(200));
                append(writer, text);
                texts.add(text);
            }
            next();
        }

        private void persist() {
            long from = model.isEmpty() ? next() : model.firstKey();
            if (compacts) {
                from = marks.first();
            }
            List<String> expected = new ArrayList<>();
            model.values().forEach(expected::addAll);
            checkpoints.add(new Checkpoint(writer.persist(SequenceNumber.of(from), 1), expected));
        }

        private void truncate() {
            if (compacts) {
                mark();
                List<Long> all = new ArrayList<>(marks);
                long to = all.get(random.nextInt(all.size()));
                writer.truncate(SequenceNumber.of(to));
                model.headMap(to).clear();
                marks.headSet(to).clear();
                return;
            }
            List<Long> numbers = new ArrayList<>(model.keySet());
            numbers.add(next());
            long to = numbers.get(random.nextInt(numbers.size()));
            writer.truncate(SequenceNumber.of(to));
            model.headMap(to).clear();
        }

        private long next() {
            return ((SequenceNumber.GenericSequenceNumber) writer.nextSequenceNumber()).number;
        }
    }
}
