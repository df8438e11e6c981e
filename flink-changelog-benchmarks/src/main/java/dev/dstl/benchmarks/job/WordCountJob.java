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
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** Counts words of 16 characters: first each once, then at random, evenly distributed. */
public final class WordCountJob implements BenchmarkJob {

    private final long words;

    /**
     * Creates a job.
     *
     * @param words number of distinct words
     */
    public WordCountJob(long words) {
        this.words = words;
    }

    @Override
    public void define(StreamExecutionEnvironment environment, Pace pace, ProgressBoard board) {
        environment
                .fromSource(
                        new StripedSource<>(
                                new WordInput(words), environment.getParallelism(), pace, board),
                        WatermarkStrategy.noWatermarks(),
                        "words",
                        Types.STRING)
                .uid("source")
                .keyBy(word -> word, Types.STRING)
                .process(new WordCounter(board), Types.LONG)
                .name("count")
                .uid("count")
                .sinkTo(new DiscardingSink<>())
                .uid("sink");
    }

    private static final class WordCounter extends KeyedProcessFunction<String, String, Long> {

        private static final long serialVersionUID = 1L;

        private final FirstRecordMark mark;
        private transient ValueState<Long> count;

        WordCounter(ProgressBoard board) {
            this.mark = new FirstRecordMark(board);
        }

        @Override
        public void open(OpenContext context) throws Exception {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
            mark.open(getRuntimeContext());
        }

        @Override
        public void processElement(String word, Context context, Collector<Long> out)
                throws Exception {
            mark.record();
            Long before = count.value();
            Long now = before == null ? 1 : before + 1;
            count.update(now);
            out.collect(now);
        }
    }
}
