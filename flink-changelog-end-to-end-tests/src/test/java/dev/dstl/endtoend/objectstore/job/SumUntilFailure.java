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

package dev.dstl.endtoend.objectstore.job;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Sums values per key and emits the sums from a timer at the end of time. */
final class SumUntilFailure extends KeyedProcessFunction<Long, Long, Tuple2<Long, Long>>
        implements CheckpointListener {

    private static final long serialVersionUID = 1L;
    private static final int CHECKPOINTS_BEFORE_FAILURE = 8;

    /** Shared by all subtasks, which run in this JVM; one of them fails. */
    private static final AtomicBoolean ARMED = new AtomicBoolean();

    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();

    private transient ValueState<Long> sum;
    private transient int checkpoints;

    static void arm() {
        ARMED.set(true);
    }

    static void disarm() {
        ARMED.set(false);
        CHECKPOINTS.set(0);
    }

    /** Number of completed checkpoints that subtasks were notified of since {@link #disarm}. */
    static int checkpoints() {
        return CHECKPOINTS.get();
    }

    static boolean hasFailed() {
        return !ARMED.get();
    }

    @Override
    public void open(OpenContext context) {
        sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Long.class));
    }

    @Override
    public void processElement(Long number, Context context, Collector<Tuple2<Long, Long>> out)
            throws Exception {
        Long soFar = sum.value();
        if (soFar == null) {
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
        }
        sum.update((soFar == null ? 0 : soFar) + number);
        if (checkpoints >= CHECKPOINTS_BEFORE_FAILURE && ARMED.compareAndSet(true, false)) {
            throw new IllegalStateException("Fails because the test wants it to");
        }
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<Tuple2<Long, Long>> out)
            throws Exception {
        out.collect(Tuple2.of(context.getCurrentKey(), sum.value()));
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        checkpoints++;
        CHECKPOINTS.incrementAndGet();
    }
}
