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
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.SlidingProcessingTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * Keeps the raw records of processing-time windows of 10 s that begin every second, so each record
 * is written ten times, read ten times and removed ten times.
 */
public final class SlidingWindowJob implements BenchmarkJob {

    private static final Duration LENGTH = Duration.ofSeconds(10);
    private static final Duration SLIDE = Duration.ofSeconds(1);

    private final long keys;

    /** Creates a job with a number of distinct keys, at least 1. */
    public SlidingWindowJob(long keys) {
        this.keys = keys;
    }

    @Override
    public void define(StreamExecutionEnvironment environment, Pace pace, ProgressBoard board) {
        environment
                .fromSource(
                        new StripedSource<>(
                                PayloadInput.ofKeys(keys),
                                environment.getParallelism(),
                                pace,
                                board),
                        WatermarkStrategy.noWatermarks(),
                        "payloads",
                        PayloadInput.type())
                .uid("source")
                .keyBy(event -> event.f0, Types.LONG)
                .window(SlidingProcessingTimeWindows.of(LENGTH, SLIDE))
                .process(new PayloadSize(board), Types.LONG)
                .name("windows")
                .uid("windows")
                .sinkTo(new DiscardingSink<>())
                .uid("sink");
    }

    /** Sums the payload bytes of a window. */
    private static final class PayloadSize
            extends ProcessWindowFunction<Tuple2<Long, byte[]>, Long, Long, TimeWindow> {

        private static final long serialVersionUID = 1L;

        private final FirstRecordMark mark;

        PayloadSize(ProgressBoard board) {
            this.mark = new FirstRecordMark(board);
        }

        @Override
        public void open(OpenContext context) throws Exception {
            mark.open(getRuntimeContext());
        }

        @Override
        public void process(
                Long key,
                Context context,
                Iterable<Tuple2<Long, byte[]>> events,
                Collector<Long> out) {
            mark.record();
            long bytes = 0;
            for (Tuple2<Long, byte[]> event : events) {
                bytes += event.f1.length;
            }
            out.collect(bytes);
        }
    }
}
