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

package dev.dstl.log.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.commit.BatchListener;
import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.SealedBatch;
import dev.dstl.log.testing.LogFixture;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import javax.annotation.Nullable;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Outputs that wait for each other do not depend on each other. */
class GatheredOutputsTest {

    private final LogFixture log = LogFixture.onCallingThread(new Configuration());
    private final GatheredOutputs outputs = new GatheredOutputs(log.timers(), 1, () -> {});
    private final List<SealedBatch> submitted = new ArrayList<>();

    @AfterEach
    void close() {
        submitted.forEach(log.commit()::release);
        log.close();
    }

    @Test
    void outputThatCannotBeSubmitted_isRefused_andTheOthersAreUploaded() {
        Output first = new Output(() -> batch(1));
        Output broken =
                new Output(
                        () -> {
                            throw new Error("Java heap space");
                        });
        Output last = new Output(() -> batch(2));
        gather(first, broken, last);

        assertThat(outputs.submitDue(log.commit())).isTrue();

        assertThat(log.store().segments()).hasSize(1);
        assertThat(first.events).containsExactly("accepted");
        assertThat(last.events).containsExactly("accepted");
        assertThat(broken.events).containsExactly("refused: java.lang.Error: Java heap space");
    }

    @Test
    void outputWhoseCallbackFails_doesNotKeepTheOthersWaiting() {
        Output broken =
                new Output(() -> batch(1)) {
                    @Override
                    public void submitted(@Nullable Throwable refusal) {
                        throw new Error("Java heap space");
                    }
                };
        Output last = new Output(() -> batch(2));
        gather(broken, last);

        assertThat(outputs.submitDue(log.commit())).isTrue();

        assertThat(last.events).containsExactly("accepted");
    }

    private void gather(Output... gathered) {
        for (Output output : gathered) {
            outputs.add(output, 100);
        }
    }

    private SealedBatch batch(long sequence) {
        SealedBatch batch =
                SealedBatch.output(
                        TestBatches.batch(sequence, List.of(TestRecord.put(1, 1, "a", "b"))),
                        new BatchListener() {
                            @Override
                            public void durable(BatchPosition position) {}

                            @Override
                            public void suspended(IOException cause) {}
                        },
                        0);
        submitted.add(batch);
        return batch;
    }

    private static class Output implements CompactionOutput {

        private final Supplier<SealedBatch> run;
        private final List<String> events = new ArrayList<>();

        private Output(Supplier<SealedBatch> run) {
            this.run = run;
        }

        @Override
        public SealedBatch startSubmitting(long bytes) {
            return run.get();
        }

        @Override
        public void submitted(@Nullable Throwable refusal) {
            events.add(refusal == null ? "accepted" : "refused: " + refusal);
        }
    }
}
