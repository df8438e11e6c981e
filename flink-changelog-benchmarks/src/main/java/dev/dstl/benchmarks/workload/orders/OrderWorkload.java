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

package dev.dstl.benchmarks.workload.orders;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.Pace;
import dev.dstl.benchmarks.source.StripedInput;
import dev.dstl.benchmarks.source.StripedSource;
import dev.dstl.benchmarks.workload.Workload;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Joins orders and line items by order key, and sums up closed orders by customer.
 *
 * <pre>
 *   source -> by order: OrderAssembly -> by customer: CustomerAccount -> rows "customer ..."
 *                             '--------------------------------------> rows "order ..."
 * </pre>
 */
public class OrderWorkload implements Workload {

    private static final int SPLITS = 4;

    private final StripedInput<OrderEvent> input;

    /** Creates a workload. */
    public OrderWorkload(StripedInput<OrderEvent> input) {
        this.input = input;
    }

    @Override
    public DataStream<String> rows(
            StreamExecutionEnvironment environment, Pace pace, ProgressBoard board) {
        SingleOutputStreamOperator<ClosedOrder> closed =
                environment
                        .fromSource(
                                new StripedSource<>(input, SPLITS, pace, board),
                                WatermarkStrategy.forMonotonousTimestamps(),
                                "orders and line items",
                                TypeInformation.of(OrderEvent.class))
                        .uid("source")
                        .keyBy(event -> event.orderKey, Types.LONG)
                        .process(assembly(board), TypeInformation.of(ClosedOrder.class))
                        .name("orders")
                        .uid("orders");
        DataStream<String> customers =
                closed.keyBy(order -> order.customerKey, Types.LONG)
                        .process(new CustomerAccount(), Types.STRING)
                        .name("customers")
                        .uid("customers");
        return closed.map(ClosedOrder::row, Types.STRING)
                .name("order rows")
                .uid("order rows")
                .union(customers);
    }

    /** Returns the operator that stores open orders; overridden by tests with failures. */
    protected OrderAssembly assembly(ProgressBoard board) {
        return new OrderAssembly(board);
    }
}
