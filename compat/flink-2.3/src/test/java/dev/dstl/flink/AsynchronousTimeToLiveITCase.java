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

package dev.dstl.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.v2.AggregatingState;
import org.apache.flink.api.common.state.v2.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.v2.ListState;
import org.apache.flink.api.common.state.v2.ListStateDescriptor;
import org.apache.flink.api.common.state.v2.MapState;
import org.apache.flink.api.common.state.v2.MapStateDescriptor;
import org.apache.flink.api.common.state.v2.ReducingState;
import org.apache.flink.api.common.state.v2.ReducingStateDescriptor;
import org.apache.flink.api.common.state.v2.StateDescriptor;
import org.apache.flink.api.common.state.v2.ValueState;
import org.apache.flink.api.common.state.v2.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Asynchronous state of all kinds, with and without a time to live. */
class AsynchronousTimeToLiveITCase {

    private static final String[] ALL = {"value", "list", "map", "reducing", "aggregating"};

    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource({
        "hashmap, true",
        "rocksdb, true",
        "dev.dstl.spillable.SpillableStateBackendFactory, true",
        "dev.dstl.spillable.SpillableStateBackendFactory, false"
    })
    void expiredStateIsGone_andOtherStateIsNot(String delegate, boolean changelog)
            throws Exception {
        assertThat(statesOnTheSecondLook(delegate, changelog, true)).isEmpty();
        assertThat(statesOnTheSecondLook(delegate, changelog, false))
                .containsExactlyInAnyOrder(ALL);
    }

    /** When this fails, Flink has fixed it, and {@code docs/flink-versions.md} is out of date. */
    @ParameterizedTest
    @ValueSource(strings = {"hashmap", "rocksdb"})
    void stateOfFlinksOwnBackends_neverExpires(String backend) throws Exception {
        assertThat(statesOnTheSecondLook(backend, false, true)).containsExactlyInAnyOrder(ALL);
    }

    @SuppressWarnings("try") // The iterator may be interrupted when it is closed.
    private List<String> statesOnTheSecondLook(
            String delegate, boolean changelog, boolean timeToLive) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.type", delegate);
        configuration.setString("state.changelog.enabled", Boolean.toString(changelog));
        configuration.setString("state.changelog.storage", "dstl");
        configuration.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        configuration.setString(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
        configuration.setString("execution.checkpointing.interval", "1 min");
        configuration.setString("parallelism.default", "1");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        List<String> found = new ArrayList<>();
        try (CloseableIterator<String> all =
                environment
                        .fromData(0L, 1L)
                        .keyBy(number -> 7L)
                        .enableAsyncState()
                        .process(new WriteThenLook(timeToLive))
                        .executeAndCollect()) {
            all.forEachRemaining(found::add);
        }
        return found;
    }

    /** Writes all states with the first record, and names those that it finds with the second. */
    private static final class WriteThenLook extends KeyedProcessFunction<Long, Long, String> {

        private static final long serialVersionUID = 1L;
        private static final long TIME_TO_LIVE_MILLIS = 50;

        private final boolean timeToLive;
        private transient ValueState<Long> value;
        private transient ListState<Long> list;
        private transient MapState<Long, Long> map;
        private transient ReducingState<Long> reducing;
        private transient AggregatingState<Long, Long> aggregating;

        WriteThenLook(boolean timeToLive) {
            this.timeToLive = timeToLive;
        }

        @Override
        public void open(OpenContext context) {
            value =
                    getRuntimeContext()
                            .getState(expiring(new ValueStateDescriptor<>("value", Types.LONG)));
            list =
                    getRuntimeContext()
                            .getListState(expiring(new ListStateDescriptor<>("list", Types.LONG)));
            map =
                    getRuntimeContext()
                            .getMapState(
                                    expiring(
                                            new MapStateDescriptor<>(
                                                    "map", Types.LONG, Types.LONG)));
            reducing =
                    getRuntimeContext()
                            .getReducingState(
                                    expiring(
                                            new ReducingStateDescriptor<>(
                                                    "reducing", Long::sum, Types.LONG)));
            aggregating =
                    getRuntimeContext()
                            .getAggregatingState(
                                    expiring(
                                            new AggregatingStateDescriptor<>(
                                                    "aggregating", new Sum(), Types.LONG)));
        }

        private <D extends StateDescriptor<?>> D expiring(D descriptor) {
            if (timeToLive) {
                descriptor.enableTimeToLive(
                        StateTtlConfig.newBuilder(Duration.ofMillis(TIME_TO_LIVE_MILLIS)).build());
            }
            return descriptor;
        }

        @Override
        public void processElement(Long number, Context context, Collector<String> out)
                throws Exception {
            if (number == 0) {
                value.asyncUpdate(1L);
                list.asyncAdd(1L);
                map.asyncPut(1L, 1L);
                reducing.asyncAdd(1L);
                aggregating.asyncAdd(1L);
                // The time to live is processing time.
                Thread.sleep(4 * TIME_TO_LIVE_MILLIS);
                return;
            }
            value.asyncValue().thenAccept(found -> name("value", found, out));
            list.asyncGet()
                    .thenAccept(
                            found -> {
                                if (found != null && !found.isEmpty()) {
                                    out.collect("list");
                                }
                            });
            map.asyncGet(1L).thenAccept(found -> name("map", found, out));
            reducing.asyncGet().thenAccept(found -> name("reducing", found, out));
            aggregating.asyncGet().thenAccept(found -> name("aggregating", found, out));
        }

        private static void name(String state, Long found, Collector<String> out) {
            if (found != null) {
                out.collect(state);
            }
        }
    }

    private static final class Sum implements AggregateFunction<Long, Long, Long> {

        private static final long serialVersionUID = 1L;

        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Long value, Long sum) {
            return sum + value;
        }

        @Override
        public Long getResult(Long sum) {
            return sum;
        }

        @Override
        public Long merge(Long one, Long other) {
            return one + other;
        }
    }
}
