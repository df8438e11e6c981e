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

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.Pace;
import dev.dstl.benchmarks.source.StripedInput;
import dev.dstl.benchmarks.source.StripedSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * Sums the numbers 1 to 5,000 by their last two digits, and then waits, so that its state is known.
 */
final class TotalsJob {

    static final String UID = "totals";

    private static final int NUMBERS = 5_000;
    private static final int KEYS = 100;
    private static final String QUERYABLE = "totals of the job";

    private final Configuration configuration = new Configuration();
    private final ProgressBoard board;

    /**
     * @param delegate that holds the state behind the changelog
     */
    TotalsJob(String delegate, Path directory) {
        this.board = new ProgressBoard(directory.resolve("progress"));
        configuration.set(StateBackendOptions.STATE_BACKEND, delegate);
        configuration.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true);
        configuration.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "dstl");
        configuration.set(
                StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL, Duration.ofMillis(200));
        configuration.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(100));
        configuration.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                directory.resolve("checkpoints").toUri().toString());
        configuration.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    }

    /** Returns the configuration of the job and of its cluster. */
    Configuration configuration() {
        return configuration;
    }

    JobGraph graph() {
        StreamExecutionEnvironment environment = new StreamExecutionEnvironment(configuration);
        environment.setParallelism(2);
        environment
                .fromSource(
                        new StripedSource<>(new Numbers(), 1, new AllButTheLast(), board),
                        WatermarkStrategy.noWatermarks(),
                        "numbers",
                        Types.LONG)
                .setParallelism(1)
                .uid("numbers")
                .keyBy(number -> number % KEYS, Types.LONG)
                .process(new Totals())
                .uid(UID)
                .sinkTo(new DiscardingSink<>())
                .uid("sink");
        JobGraph graph = environment.getStreamGraph().getJobGraph();
        graph.setJobID(new JobID());
        return graph;
    }

    /** Whether the source has emitted all records. */
    boolean restsNow() throws IOException {
        return board.read().records() == NUMBERS;
    }

    /** Expected final state: the total of each key. */
    static Map<Long, Long> expected() {
        Map<Long, Long> totals = new TreeMap<>();
        for (long number = 1; number <= NUMBERS; number++) {
            totals.merge(number % KEYS, number, Long::sum);
        }
        return totals;
    }

    @SuppressWarnings("deprecation") // Queryable state as a whole is, and works.
    static ValueStateDescriptor<Long> total() {
        ValueStateDescriptor<Long> descriptor = new ValueStateDescriptor<>("total", Types.LONG);
        descriptor.setQueryable(QUERYABLE);
        return descriptor;
    }

    static String queryableName() {
        return QUERYABLE;
    }

    static MapStateDescriptor<Long, Long> parts() {
        return new MapStateDescriptor<>("parts", Types.LONG, Types.LONG);
    }

    static ListStateDescriptor<Long> numbers() {
        return new ListStateDescriptor<>("numbers", Types.LONG);
    }

    /** The numbers, and a last one that comes much later. */
    private static final class Numbers implements StripedInput<Long> {

        private static final long serialVersionUID = 1L;

        @Override
        public long stripeCount() {
            return 2;
        }

        @Override
        public List<Long> read(long stripe) {
            return stripe == 0
                    ? LongStream.rangeClosed(1, NUMBERS).boxed().collect(Collectors.toList())
                    : List.of(0L);
        }

        @Override
        public long eventTimeMillis(Long number) {
            return 0;
        }
    }

    private static final class AllButTheLast implements Pace {

        private static final long serialVersionUID = 1L;

        @Override
        public long waitNanos(double startFraction, long elapsedNanos, double fraction) {
            return fraction < 0.5 ? 0 : TimeUnit.DAYS.toNanos(1);
        }

        @Override
        public boolean sprintsAt(double fraction) {
            return false;
        }
    }

    private static final class Totals extends KeyedProcessFunction<Long, Long, Long> {

        private static final long serialVersionUID = 1L;

        private transient ValueState<Long> total;
        private transient MapState<Long, Long> parts;
        private transient ListState<Long> numbers;

        @Override
        public void open(OpenContext context) {
            total = getRuntimeContext().getState(total());
            parts = getRuntimeContext().getMapState(parts());
            numbers = getRuntimeContext().getListState(numbers());
        }

        @Override
        public void processElement(Long number, Context context, Collector<Long> out)
                throws Exception {
            Long before = total.value();
            total.update(before == null ? number : before + number);
            long part = number % 7;
            parts.put(part, parts.contains(part) ? parts.get(part) + number : number);
            numbers.add(number);
            context.timerService().registerEventTimeTimer(number);
        }
    }
}
