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

import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** SQL joins, windows and rankings over orders and payments that follow from numbers. */
public final class OrderQueries {

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

    private OrderQueries() {}

    /**
     * Returns the changes of the result.
     *
     * @param numbers from 0 on, each of which is an order and two of three of which are a payment
     */
    public static DataStream<Row> changes(
            StreamExecutionEnvironment environment, DataStream<Long> numbers) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
        tables.getConfig().set("table.local-time-zone", "UTC");
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
        return tables.toChangelogStream(tables.sqlQuery(QUERY));
    }

    /** Returns the final rows after all retractions, with their multiplicities. */
    public static Map<String, Integer> finalRows(Iterator<Row> changes) {
        Map<String, Integer> rows = new TreeMap<>();
        while (changes.hasNext()) {
            apply(changes.next(), rows);
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
}
