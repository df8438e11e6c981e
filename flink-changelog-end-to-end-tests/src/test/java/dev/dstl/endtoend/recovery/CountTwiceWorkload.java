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

package dev.dstl.endtoend.recovery;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.Pace;
import dev.dstl.benchmarks.source.StripedInput;
import dev.dstl.benchmarks.source.StripedSource;
import dev.dstl.benchmarks.workload.Workload;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Each word of a large vocabulary twice: almost only keyed state. Emits a sample of the counts, and
 * all counts other than two.
 */
final class CountTwiceWorkload implements Workload {

    private static final int SAMPLE = 1000;

    private final long words;

    /**
     * Creates the job.
     *
     * @param words a multiple of the sample, 1000
     */
    CountTwiceWorkload(long words) {
        this.words = words;
    }

    Map<String, String> expectedRows() {
        return LongStream.range(0, words / SAMPLE)
                .boxed()
                .collect(Collectors.toMap(i -> word(i * SAMPLE), i -> "2"));
    }

    private static String word(long number) {
        return String.format("%016d", number);
    }

    @Override
    public DataStream<String> rows(
            StreamExecutionEnvironment environment, Pace pace, ProgressBoard board) {
        return environment
                .fromSource(
                        new StripedSource<>(new TwoPasses(words), 1, pace, board),
                        WatermarkStrategy.noWatermarks(),
                        "numbers",
                        Types.LONG)
                .uid("source")
                .keyBy(number -> word(number), Types.STRING)
                .process(new Count(), Types.STRING)
                .name("count")
                .uid("count");
    }

    private static final class TwoPasses implements StripedInput<Long> {

        private static final long serialVersionUID = 1L;
        private static final int STRIPE = 1000;

        private final long words;

        private TwoPasses(long words) {
            this.words = words;
        }

        @Override
        public long stripeCount() {
            return 2 * words / STRIPE;
        }

        @Override
        public List<Long> read(long stripe) {
            return LongStream.range(stripe * STRIPE, (stripe + 1) * STRIPE)
                    .mapToObj(position -> position % words)
                    .collect(Collectors.toList());
        }

        @Override
        public long eventTimeMillis(Long event) {
            return 0;
        }
    }

    private static final class Count extends KeyedProcessFunction<String, Long, String> {

        private static final long serialVersionUID = 1L;

        private transient ValueState<Long> count;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(Long number, Context context, Collector<String> out)
                throws Exception {
            Long before = count.value();
            long now = before == null ? 1 : before + 1;
            count.update(now);
            boolean sampled = number % SAMPLE == 0 && now == 2;
            if (sampled || now > 2) {
                out.collect(context.getCurrentKey() + "\t" + now);
            }
        }
    }
}
