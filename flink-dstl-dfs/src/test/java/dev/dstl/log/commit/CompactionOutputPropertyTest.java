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

package dev.dstl.log.commit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.testing.LogFixture;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SharedStateRegistryKey;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * Outputs of three changelogs share a segment. Barriers come in any order, changelogs start and
 * stop naming the segment at any checkpoint, and checkpoints are aborted: the JobManager never
 * deletes what a completed checkpoint names. Uses Flink's own registry.
 */
class CompactionOutputPropertyTest {

    private static final int LOGS = 3;

    @Property(tries = 3000)
    void segmentThatACompletedCheckpointNames_isThere(@ForAll("histories") List<Step> history)
            throws IOException {
        try (LogFixture fixture = LogFixture.onCallingThread(new Configuration());
                Job job = new Job(fixture.commit())) {
            for (Step step : history) {
                job.perform(step);
            }
        }
    }

    @Provide
    Arbitrary<List<Step>> histories() {
        return Combinators.combine(
                        Arbitraries.of(Action.class), Arbitraries.integers().between(0, LOGS - 1))
                .as(Step::new)
                .list()
                .ofMaxSize(40);
    }

    private enum Action {
        /** The barrier of the changelog's next checkpoint; it acknowledges what it names. */
        BARRIER,
        BARRIER_AGAIN,
        /** The next checkpoint is aborted before its barrier comes. */
        ABORT,
        ENTER,
        DROP
    }

    private static final class Step {
        private final Action action;
        private final int log;

        Step(Action action, int log) {
            this.action = action;
            this.log = log;
        }

        @Override
        public String toString() {
            return action + " " + log;
        }
    }

    private static final class Job implements AutoCloseable {

        private final GroupCommit commit;
        private final List<SealedBatch> outputs = new ArrayList<>();
        private final boolean[] names = new boolean[LOGS];
        private final boolean[] decided = new boolean[LOGS];
        private final long[] lastCheckpoints = new long[LOGS];
        private final long[] seenCheckpoints = new long[LOGS];
        private final List<List<Long>> acknowledged = new ArrayList<>();
        private final List<List<Long>> naming = new ArrayList<>();
        private final SharedStateRegistry registry = new SharedStateRegistryImpl(Runnable::run);
        private long completed;
        private boolean deleted;

        Job(GroupCommit commit) {
            this.commit = commit;
            for (int log = 0; log < LOGS; log++) {
                outputs.add(output());
                acknowledged.add(new ArrayList<>());
                naming.add(new ArrayList<>());
            }
            commit.submitOutputs(outputs);
        }

        void perform(Step step) {
            int log = step.log;
            switch (step.action) {
                case BARRIER:
                case BARRIER_AGAIN:
                    lastCheckpoints[log] = ++seenCheckpoints[log];
                    acknowledge(log, lastCheckpoints[log]);
                    break;
                case ABORT:
                    seenCheckpoints[log]++;
                    break;
                case ENTER:
                    if (!decided[log]) {
                        decided[log] = true;
                        names[log] = commit.enter(outputs.get(log), lastCheckpoints[log]);
                    }
                    break;
                case DROP:
                    if (names[log]) {
                        names[log] = false;
                        commit.release(outputs.get(log));
                    }
                    break;
                default:
                    throw new IllegalArgumentException(step.toString());
            }
        }

        private void acknowledge(int log, long checkpoint) {
            acknowledged.get(log).add(checkpoint);
            if (names[log]) {
                naming.get(log).add(checkpoint);
                registry.registerReference(
                        SharedStateRegistryKey.forStreamStateHandle(
                                new ByteStreamStateHandle("segment", new byte[1])),
                        new Segment(),
                        checkpoint);
            }
            if (checkpoint > completed
                    && acknowledged.stream().allMatch(ids -> ids.contains(checkpoint))) {
                completed = checkpoint;
                registry.unregisterUnusedState(checkpoint);
                assertThat(naming.stream().anyMatch(ids -> ids.contains(checkpoint)) && deleted)
                        .as("checkpoint %d names what is deleted", checkpoint)
                        .isFalse();
            }
        }

        @Override
        public void close() throws IOException {
            for (SealedBatch output : outputs) {
                if (output.state() != BatchState.RELEASED) {
                    commit.release(output);
                }
            }
            try {
                registry.close();
            } catch (Exception e) {
                throw new IOException(e);
            }
        }

        private final class Segment extends ByteStreamStateHandle {

            private static final long serialVersionUID = 1L;

            Segment() {
                super("segment", new byte[1]);
            }

            @Override
            public void discardState() {
                deleted = true;
            }
        }
    }

    private static SealedBatch output() {
        TestRecord record =
                new TestRecord(RecordKind.PUT, 1, 1, 1, new byte[] {1}, new byte[] {2, 3});
        return SealedBatch.output(
                TestBatches.batch(UUID.randomUUID(), 0, List.of(record)), new NoListener(), 0);
    }

    private static final class NoListener implements BatchListener {
        @Override
        public void durable(BatchPosition position) {}

        @Override
        public void suspended(IOException cause) {}
    }
}
