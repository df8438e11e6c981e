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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.CRC32;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Keyed by customer: sums up all closed orders and emits the result once, at the end of the input.
 * Uses reducing, aggregating and list state, and one timer per customer.
 */
final class CustomerAccount extends KeyedProcessFunction<Long, ClosedOrder, String> {

    private static final long serialVersionUID = 1L;
    private static final long END_OF_INPUT = Long.MAX_VALUE - 1;

    private transient ReducingState<Long> spentCents;
    private transient AggregatingState<ClosedOrder, Basket> basket;
    private transient ListState<Long> orderKeys;

    @Override
    public void open(OpenContext context) {
        spentCents =
                getRuntimeContext()
                        .getReducingState(
                                new ReducingStateDescriptor<>("spent", Long::sum, Long.class));
        basket =
                getRuntimeContext()
                        .getAggregatingState(
                                new AggregatingStateDescriptor<>(
                                        "basket", new Basket.Filling(), Basket.class));
        orderKeys =
                getRuntimeContext().getListState(new ListStateDescriptor<>("orders", Long.class));
    }

    @Override
    public void processElement(ClosedOrder order, Context context, Collector<String> out)
            throws Exception {
        spentCents.add(order.lineCents);
        basket.add(order);
        orderKeys.add(order.orderKey);
        context.timerService().registerEventTimeTimer(END_OF_INPUT);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
            throws Exception {
        Basket all = basket.get();
        out.collect(
                "customer "
                        + context.getCurrentKey()
                        + "\torders="
                        + all.orders
                        + " lines="
                        + all.lines
                        + " quantity="
                        + all.quantity
                        + " largest="
                        + all.largestCents
                        + " spent="
                        + spentCents.get()
                        + " keys="
                        + fingerprint(orderKeys.get()));
    }

    /** CRC-32 over the sorted order keys, each followed by a comma. */
    private static String fingerprint(Iterable<Long> keys) {
        List<Long> sorted = new ArrayList<>();
        keys.forEach(sorted::add);
        Collections.sort(sorted);
        CRC32 crc = new CRC32();
        for (Long key : sorted) {
            crc.update((key + ",").getBytes(StandardCharsets.US_ASCII));
        }
        return Long.toHexString(crc.getValue());
    }
}
