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

package dev.dstl.benchmarks.job;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.Pace;
import dev.dstl.benchmarks.source.StripedSource;
import dev.dstl.benchmarks.workload.FirstRecordMark;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** Keeps the newest payload of each key; nine of ten keys are new, so the state only grows. */
public final class NewKeysJob implements BenchmarkJob {

    @Override
    public void define(StreamExecutionEnvironment environment, Pace pace, ProgressBoard board) {
        environment
                .fromSource(
                        new StripedSource<>(
                                PayloadInput.mostlyNewKeys(),
                                environment.getParallelism(),
                                pace,
                                board),
                        WatermarkStrategy.noWatermarks(),
                        "payloads",
                        PayloadInput.type())
                .uid("source")
                .keyBy(event -> event.f0, Types.LONG)
                .process(new NewestPayload(board), Types.INT)
                .name("newest")
                .uid("newest")
                .sinkTo(new DiscardingSink<>())
                .uid("sink");
    }

    /** Returns the length of the payload that was replaced. */
    private static final class NewestPayload
            extends KeyedProcessFunction<Long, Tuple2<Long, byte[]>, Integer> {

        private static final long serialVersionUID = 1L;

        private final FirstRecordMark mark;
        private transient ValueState<byte[]> newest;

        NewestPayload(ProgressBoard board) {
            this.mark = new FirstRecordMark(board);
        }

        @Override
        public void open(OpenContext context) throws Exception {
            newest =
                    getRuntimeContext()
                            .getState(
                                    new ValueStateDescriptor<>(
                                            "newest",
                                            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
            mark.open(getRuntimeContext());
        }

        @Override
        public void processElement(
                Tuple2<Long, byte[]> event, Context context, Collector<Integer> out)
                throws Exception {
            mark.record();
            byte[] before = newest.value();
            newest.update(event.f1);
            if (before != null) {
                out.collect(before.length);
            }
        }
    }
}
