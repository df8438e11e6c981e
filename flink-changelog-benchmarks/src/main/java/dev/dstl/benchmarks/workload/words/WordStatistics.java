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

package dev.dstl.benchmarks.workload.words;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.workload.FirstRecordMark;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Keyed by word: counts it in windows of the file, which event-time timers close, and in total,
 * which is emitted at the end of the input. Uses map, list, reducing and aggregating state.
 */
final class WordStatistics extends KeyedProcessFunction<String, Word, String> {

    private static final long serialVersionUID = 1L;
    private static final long END_OF_INPUT = Long.MAX_VALUE - 1;

    private final long windowBytes;
    private final FirstRecordMark mark;
    private transient MapState<Long, Long> openWindows;
    private transient ListState<Long> closedCounts;
    private transient ReducingState<Long> total;
    private transient AggregatingState<Long, Extent> extent;

    WordStatistics(long windowBytes, ProgressBoard board) {
        this.windowBytes = windowBytes;
        this.mark = new FirstRecordMark(board);
    }

    @Override
    public void open(OpenContext context) throws Exception {
        openWindows =
                getRuntimeContext()
                        .getMapState(new MapStateDescriptor<>("windows", Long.class, Long.class));
        closedCounts =
                getRuntimeContext().getListState(new ListStateDescriptor<>("counts", Long.class));
        total =
                getRuntimeContext()
                        .getReducingState(
                                new ReducingStateDescriptor<>("total", Long::sum, Long.class));
        extent =
                getRuntimeContext()
                        .getAggregatingState(
                                new AggregatingStateDescriptor<>(
                                        "extent", new Extent.Widening(), Extent.class));
        mark.open(getRuntimeContext());
    }

    @Override
    public void processElement(Word word, Context context, Collector<String> out) throws Exception {
        mark.record();
        long window = word.offset / windowBytes;
        Long count = openWindows.get(window);
        openWindows.put(window, count == null ? 1 : count + 1);
        total.add(1L);
        extent.add(word.offset);
        context.timerService().registerEventTimeTimer((window + 1) * windowBytes - 1);
        context.timerService().registerEventTimeTimer(END_OF_INPUT);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
            throws Exception {
        if (timestamp == END_OF_INPUT) {
            sayTotal(context.getCurrentKey(), out);
            return;
        }
        long window = timestamp / windowBytes;
        Long count = openWindows.get(window);
        openWindows.remove(window);
        closedCounts.add(count);
        out.collect("window " + window + " " + context.getCurrentKey() + "\tcount=" + count);
    }

    private void sayTotal(String word, Collector<String> out) throws Exception {
        int windows = 0;
        long greatest = 0;
        for (Long count : closedCounts.get()) {
            windows++;
            greatest = Math.max(greatest, count);
        }
        Extent where = extent.get();
        out.collect(
                "word "
                        + word
                        + "\tcount="
                        + total.get()
                        + " windows="
                        + windows
                        + " greatest="
                        + greatest
                        + " first="
                        + where.first
                        + " last="
                        + where.last);
    }
}
