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
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
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

    /** The first column names the part of the query. Ties are broken, so the result is unique. */
    private static final String QUERY =
            "SELECT 'left join', CAST(o.customer AS STRING), CAST(COUNT(*) AS STRING),"
                    + " CAST(SUM(o.amount) AS STRING), CAST(COUNT(DISTINCT p.kind) AS STRING)"
                    + " FROM orders o LEFT JOIN payments p ON o.id = p.order_id"
                    + " GROUP BY o.customer"
                    + " UNION ALL SELECT 'interval join', CAST(o.id AS STRING),"
                    + " CAST(o.amount AS STRING), CAST(p.kind AS STRING), ''"
                    + " FROM orders o JOIN payments p ON o.id = p.order_id"
                    + " AND p.ts BETWEEN o.ts AND o.ts + INTERVAL '2' SECOND"
                    + " WHERE o.amount < 40"
                    + " UNION ALL SELECT 'window', CAST(customer AS STRING),"
                    + " CAST(UNIX_TIMESTAMP(CAST(window_end AS STRING)) AS STRING),"
                    + " CAST(COUNT(*) AS STRING), CAST(SUM(amount) AS STRING)"
                    + " FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
                    + " GROUP BY customer, window_start, window_end"
                    + " UNION ALL SELECT 'first of each', CAST(customer AS STRING),"
                    + " CAST(amount AS STRING), CAST(id AS STRING), '' FROM ("
                    + " SELECT *, ROW_NUMBER() OVER"
                    + " (PARTITION BY customer, amount ORDER BY ts ASC) AS place FROM orders)"
                    + " WHERE place = 1"
                    + " UNION ALL SELECT 'last of each', CAST(customer AS STRING),"
                    + " CAST(amount AS STRING), CAST(id AS STRING), '' FROM ("
                    + " SELECT *, ROW_NUMBER() OVER"
                    + " (PARTITION BY customer, amount ORDER BY ts DESC) AS place FROM orders)"
                    + " WHERE place = 1"
                    + " UNION ALL SELECT 'top', CAST(customer AS STRING), CAST(place AS STRING),"
                    + " CAST(amount AS STRING), CAST(id AS STRING) FROM ("
                    + " SELECT *, ROW_NUMBER() OVER"
                    + " (PARTITION BY customer ORDER BY amount DESC, id ASC) AS place FROM orders)"
                    + " WHERE place <= 3";

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

    /** Final rows after all retractions, with their multiplicities. */
    @SuppressWarnings("try") // close() is declared with Exception by Flink
    private static Map<String, Integer> rows(Configuration configuration) throws Exception {
        Map<String, Integer> rows = new TreeMap<>();
        try (StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(1, configuration)) {
            StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
            tables.getConfig().set("table.local-time-zone", "UTC");
            DataStream<Long> numbers =
                    environment.fromSequence(0, ORDERS - 1).map(new FailingAfterCheckpoints());
            tables.createTemporaryView(
                    "numbers",
                    numbers,
                    Schema.newBuilder()
                            .column("f0", "BIGINT NOT NULL")
                            .columnByExpression("ts", "TO_TIMESTAMP_LTZ(f0 * 10, 3)")
                            .watermark("ts", "ts - INTERVAL '1' SECOND")
                            .build());
            tables.executeSql(
                    "CREATE TEMPORARY VIEW orders AS SELECT f0 AS id, MOD(f0 * 7, 17) AS customer,"
                            + " MOD(f0 * 7919, 211) AS amount, ts FROM numbers");
            tables.executeSql(
                    "CREATE TEMPORARY VIEW payments AS SELECT f0 - MOD(f0, 100) AS order_id,"
                            + " MOD(f0, 5) AS kind, ts FROM numbers WHERE MOD(f0, 3) <> 0");
            try (CloseableIterator<Row> changes =
                    tables.toChangelogStream(tables.sqlQuery(QUERY)).executeAndCollect()) {
                while (changes.hasNext()) {
                    apply(changes.next(), rows);
                }
            }
        }
        return rows;
    }

    private static void apply(Row change, Map<String, Integer> rows) {
        boolean added =
                change.getKind() == RowKind.INSERT || change.getKind() == RowKind.UPDATE_AFTER;
        change.setKind(RowKind.INSERT);
        Integer count = rows.merge(change.toString(), added ? 1 : -1, Integer::sum);
        if (count == 0) {
            rows.remove(change.toString());
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
