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

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Flink without DSTL: splits that were assigned before a checkpoint while the task was busy, and
 * are in no checkpoint.
 */
class UnalignedCheckpointITCase {

    @TempDir private Path directory;

    /**
     * A source's task takes an unaligned checkpoint before the events that came earlier. When this
     * fails, Flink has fixed it, and {@code docs/reliability.md} is out of date.
     */
    @Test
    void splitThatTheTaskHasYetToAdd_isLostIfTheCheckpointIsUnaligned() throws Exception {
        assertThat(splitsRead("0 ms")).containsExactly("first");
    }

    @Test
    void splitThatTheTaskHasYetToAdd_isKeptIfTheCheckpointBeginsAligned() throws Exception {
        assertThat(splitsRead("1 ms")).containsExactlyInAnyOrder("first", "second");
    }

    /** Runs a job that fails after its first checkpoint, and returns what it reads after that. */
    @SuppressWarnings("try") // The iterator may be interrupted when it is closed.
    private List<String> splitsRead(String alignedCheckpointTimeout) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.type", "hashmap");
        configuration.setString(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
        configuration.setString("execution.checkpointing.interval", "50 ms");
        configuration.setString("execution.checkpointing.unaligned.enabled", "true");
        configuration.setString(
                "execution.checkpointing.aligned-checkpoint-timeout", alignedCheckpointTimeout);
        configuration.setString("restart-strategy.type", "fixed-delay");
        configuration.setString("restart-strategy.fixed-delay.attempts", "1");
        configuration.setString("restart-strategy.fixed-delay.delay", "1 ms");
        configuration.setString("parallelism.default", "1");
        String run = Run.start();
        List<String> read = new ArrayList<>();
        try (CloseableIterator<String> splits =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration)
                        .fromSource(
                                new TwoSplits(run), WatermarkStrategy.noWatermarks(), "two splits")
                        .executeAndCollect()) {
            splits.forEachRemaining(read::add);
        } finally {
            Run.end(run);
        }
        return read;
    }

    /** What enumerator and reader of one job, in this process, know of each other. */
    private static final class Run {

        private static final ConcurrentHashMap<String, Run> RUNS = new ConcurrentHashMap<>();
        private static final AtomicInteger STARTED = new AtomicInteger();

        private final CountDownLatch checkpointBegun = new CountDownLatch(1);
        private final CountDownLatch checkpointComplete = new CountDownLatch(1);
        private final AtomicBoolean failed = new AtomicBoolean();

        static String start() {
            String name = "run " + STARTED.incrementAndGet();
            RUNS.put(name, new Run());
            return name;
        }

        static Run of(String name) {
            return RUNS.get(name);
        }

        static void end(String name) {
            RUNS.remove(name);
        }
    }

    private static final class Split implements SourceSplit {

        private final String name;

        Split(String name) {
            this.name = name;
        }

        @Override
        public String splitId() {
            return name;
        }
    }

    /** A source with two splits; each emits its name when the job has recovered from a failure. */
    private static final class TwoSplits implements Source<String, Split, Split> {

        private static final long serialVersionUID = 1L;

        private final String run;

        TwoSplits(String run) {
            this.run = run;
        }

        @Override
        public Boundedness getBoundedness() {
            return Boundedness.BOUNDED;
        }

        @Override
        public SplitEnumerator<Split, Split> createEnumerator(
                SplitEnumeratorContext<Split> context) {
            return new Enumerator(
                    context, Run.of(run), List.of(new Split("first"), new Split("second")));
        }

        @Override
        public SplitEnumerator<Split, Split> restoreEnumerator(
                SplitEnumeratorContext<Split> context, Split nothing) {
            return new Enumerator(context, Run.of(run), List.of());
        }

        @Override
        public SourceReader<String, Split> createReader(SourceReaderContext context) {
            return new Reader(Run.of(run));
        }

        @Override
        public SimpleVersionedSerializer<Split> getSplitSerializer() {
            return new Names();
        }

        @Override
        public SimpleVersionedSerializer<Split> getEnumeratorCheckpointSerializer() {
            return new Names();
        }
    }

    /** Assigns both splits one after the other. */
    private static final class Enumerator implements SplitEnumerator<Split, Split> {

        private final SplitEnumeratorContext<Split> context;
        private final Run run;
        private final List<Split> unassigned;

        /**
         * The first checkpoint after both were assigned; one may begin before there is a reader.
         */
        private long firstCheckpoint = Long.MAX_VALUE;

        Enumerator(SplitEnumeratorContext<Split> context, Run run, List<Split> unassigned) {
            this.context = context;
            this.run = run;
            this.unassigned = new ArrayList<>(unassigned);
        }

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, @Nullable String host) {}

        @Override
        public void addSplitsBack(List<Split> splits, int subtask) {
            unassigned.addAll(splits);
        }

        @Override
        public void addReader(int subtask) {
            unassigned.forEach(split -> context.assignSplit(split, subtask));
            unassigned.clear();
            context.signalNoMoreSplits(subtask);
        }

        @Override
        public Split snapshotState(long checkpointId) {
            if (unassigned.isEmpty()) {
                firstCheckpoint = Math.min(firstCheckpoint, checkpointId);
                run.checkpointBegun.countDown();
            }
            return new Split("nothing");
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (checkpointId >= firstCheckpoint) {
                run.checkpointComplete.countDown();
            }
        }

        @Override
        public void close() {}
    }

    /** Is busy with its first split until a checkpoint begins, before which both were assigned. */
    private static final class Reader implements SourceReader<String, Split> {

        private static final long TRIGGER_ON_ITS_WAY_MILLIS = 1_000;

        private final Run run;
        private final List<Split> splits = new ArrayList<>();

        Reader(Run run) {
            this.run = run;
        }

        @Override
        public void start() {}

        @Override
        public void addSplits(List<Split> added) {
            if (!run.failed.get() && splits.isEmpty()) {
                await(run.checkpointBegun);
                sleep(TRIGGER_ON_ITS_WAY_MILLIS);
            }
            splits.addAll(added);
        }

        @Override
        public InputStatus pollNext(ReaderOutput<String> output) {
            if (!run.failed.get()) {
                if (run.checkpointComplete.getCount() > 0) {
                    return InputStatus.NOTHING_AVAILABLE;
                }
                run.failed.set(true);
                throw new IllegalStateException("Fails after its first checkpoint, as it should");
            }
            if (splits.isEmpty()) {
                return InputStatus.END_OF_INPUT;
            }
            output.collect(splits.remove(0).name);
            return InputStatus.MORE_AVAILABLE;
        }

        @Override
        public List<Split> snapshotState(long checkpointId) {
            return new ArrayList<>(splits);
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {}

        private static void await(CountDownLatch latch) {
            try {
                assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        private static void sleep(long millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class Names implements SimpleVersionedSerializer<Split> {

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Split split) {
            return split.name.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Split deserialize(int version, byte[] serialized) {
            return new Split(new String(serialized, StandardCharsets.UTF_8));
        }
    }
}
