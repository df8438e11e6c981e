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
import dev.dstl.benchmarks.workload.FirstRecordMark;
import java.util.zip.CRC32;
import javax.annotation.Nullable;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Keyed by order: stores the order and its line items until an event-time timer closes it. Uses
 * value and map state, and one timer per open order.
 */
public class OrderAssembly extends KeyedProcessFunction<Long, OrderEvent, ClosedOrder> {

    private static final long serialVersionUID = 1L;

    private final FirstRecordMark mark;
    private transient ValueState<OrderHeader> header;
    private transient MapState<Integer, OrderLine> lines;
    private transient ValueState<Integer> repeats;

    /** Creates an operator that reports its records to a board. */
    public OrderAssembly(ProgressBoard board) {
        this.mark = new FirstRecordMark(board);
    }

    @Override
    public void open(OpenContext context) throws Exception {
        header =
                getRuntimeContext()
                        .getState(new ValueStateDescriptor<>("header", OrderHeader.class));
        lines =
                getRuntimeContext()
                        .getMapState(
                                new MapStateDescriptor<>("lines", Integer.class, OrderLine.class));
        repeats =
                getRuntimeContext().getState(new ValueStateDescriptor<>("repeats", Integer.class));
        mark.open(getRuntimeContext());
    }

    @Override
    public void processElement(OrderEvent event, Context context, Collector<ClosedOrder> out)
            throws Exception {
        mark.record();
        boolean repeated;
        if (event.isLineItem()) {
            repeated = lines.contains(event.lineNumber);
            lines.put(event.lineNumber, new OrderLine(event.cents, event.quantity));
        } else {
            repeated = header.value() != null;
            header.update(new OrderHeader(event.customerKey, event.cents, event.document));
        }
        if (repeated) {
            Integer before = repeats.value();
            repeats.update(before == null ? 1 : before + 1);
        }
        context.timerService().registerEventTimeTimer(event.closesAtMillis);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<ClosedOrder> out)
            throws Exception {
        ClosedOrder closed = new ClosedOrder();
        closed.orderKey = context.getCurrentKey();
        OrderHeader order = header.value();
        if (order != null) {
            closed.customerKey = order.customerKey;
            closed.orderCents = order.cents;
            closed.document = checksum(order.document);
        }
        for (OrderLine line : lines.values()) {
            closed.lines++;
            closed.lineCents += line.cents;
            closed.quantity += line.quantity;
        }
        Integer seenAgain = repeats.value();
        closed.repeats = seenAgain == null ? 0 : seenAgain;
        out.collect(closed);
        header.clear();
        lines.clear();
        repeats.clear();
    }

    private static long checksum(@Nullable byte[] document) {
        CRC32 crc = new CRC32();
        if (document != null) {
            crc.update(document);
        }
        return crc.getValue();
    }
}
