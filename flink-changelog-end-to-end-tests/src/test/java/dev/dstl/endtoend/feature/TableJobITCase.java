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

package dev.dstl.endtoend.feature;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * SQL queries with a changelog, over a failure, return the same result as in batch mode, where
 * other operators run and none of them has a state backend.
 */
class TableJobITCase {

    private static final long ORDERS = 10_000;
    private static final int FAILURES = 2;

    private static Map<String, Integer> expected;

    @TempDir private Path directory;

    @BeforeAll
    static void askInBatchMode() throws Exception {
        expected = rows(batch());
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocksdb", "hashmap"})
    void joinsWindowsAndRankings_sayTheSameAsInBatchMode(String delegate) throws Exception {
        FailingAfterCheckpoints.failures.set(FAILURES);

        Map<String, Integer> found = rows(streaming(delegate));

        assertThat(FailingAfterCheckpoints.failures).hasValue(0);
        assertThat(directory.resolve("log")).as("the changelog was in use").isDirectory();
        assertThat(found).isEqualTo(expected);
        assertThat(found).hasSizeGreaterThan(4_000);
    }

    private Configuration streaming(String delegate) {
        Configuration job = new Configuration();
        job.setString("state.backend.type", delegate);
        job.setString("state.changelog.enabled", "true");
        job.setString("state.changelog.storage", "dstl");
        job.setString("state.changelog.periodic-materialize.interval", "300 ms");
        job.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        job.setString("execution.checkpointing.interval", "100 ms");
        job.setString(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
        job.setString("restart-strategy.type", "fixed-delay");
        job.setString("restart-strategy.fixed-delay.attempts", "100");
        job.setString("restart-strategy.fixed-delay.delay", "50 ms");
        // State with a time to live, none of which ends.
        job.setString("table.exec.state.ttl", "1 h");
        return job;
    }

    private static Configuration batch() {
        Configuration job = new Configuration();
        job.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        return job;
    }

    @SuppressWarnings("try") // close() is declared with Exception by Flink
    private static Map<String, Integer> rows(Configuration configuration) throws Exception {
        try (StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(1, configuration)) {
            DataStream<Long> numbers =
                    environment.fromSequence(0, ORDERS - 1).map(new FailingAfterCheckpoints());
            try (CloseableIterator<Row> changes =
                    OrderQueries.changes(environment, numbers).executeAndCollect()) {
                return OrderQueries.finalRows(changes);
            }
        }
    }

    /** Fails a few times after some checkpoints, and slows the job down until then. */
    private static final class FailingAfterCheckpoints extends RichMapFunction<Long, Long>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;

        static final AtomicInteger failures = new AtomicInteger();

        private transient int records;
        private transient int checkpoints;

        @Override
        public Long map(Long number) throws Exception {
            if (failures.get() > 0) {
                // Fast at first, so that checkpoints hold something, then slow for as long as it
                // takes.
                if (++records > 1_000) {
                    Thread.sleep(10);
                }
                if (checkpoints >= 3
                        && records > 1_000
                        && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                    throw new IllegalStateException("A failure of the test's own");
                }
            }
            return number;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            checkpoints++;
        }
    }
}
