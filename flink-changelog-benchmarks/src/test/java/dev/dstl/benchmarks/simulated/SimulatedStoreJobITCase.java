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

package dev.dstl.benchmarks.simulated;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.StoreTime;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A job with checkpoints on a simulated store fails once and recovers from them. */
class SimulatedStoreJobITCase {

    private static final int KEYS = 10;
    private static final int RECORDS = 20_000;
    private static final Map<Long, Long> COUNTS = new ConcurrentHashMap<>();
    private static final AtomicBoolean FAILED = new AtomicBoolean();

    private final String authority = "job-" + UUID.randomUUID();
    private final SimulatedObjectStore store =
            SimulatedStores.inMemory(
                    StoreProfile.builder().latencyMillis(5, 20).build(), StoreTime.SYSTEM);

    @BeforeEach
    void register() {
        SimulatedStores.register(authority, store);
        COUNTS.clear();
        FAILED.set(false);
    }

    @AfterEach
    void unregister() {
        SimulatedStores.unregister(authority);
    }

    @Test
    void jobRecoversExactlyFromCheckpointsOnTheStore() throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, "hashmap");
        configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
        configuration.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY, "sim://" + authority + "/checkpoints");
        configuration.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        configuration.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(2, configuration);
        environment.enableCheckpointing(50);
        environment
                .fromSource(
                        // Waits for a checkpoint after every quarter of the records.
                        new DataGeneratorSource<>(
                                number -> number,
                                RECORDS,
                                RateLimiterStrategy.perCheckpoint(RECORDS / 4),
                                Types.LONG),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .keyBy(number -> number % KEYS)
                .process(new CountUntilFailure())
                .name("count")
                .uid("count");
        environment.execute();

        assertThat(FAILED).isTrue();
        assertThat(COUNTS).hasSize(KEYS);
        assertThat(COUNTS.values()).allMatch(count -> count == RECORDS / KEYS);
        assertThat(store.counts().requests(RequestType.PUT)).isPositive();
        assertThat(store.counts().requests(RequestType.GET)).isPositive();
    }

    /** Counts each key, and fails once, after the first completed checkpoint. */
    private static final class CountUntilFailure
            extends KeyedProcessFunction<Long, Long, Tuple2<Long, Long>>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;

        private transient ValueState<Long> count;
        private transient boolean fails;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
        }

        @Override
        public void processElement(Long number, Context context, Collector<Tuple2<Long, Long>> out)
                throws Exception {
            if (fails && FAILED.compareAndSet(false, true)) {
                throw new IllegalStateException("Failed on purpose");
            }
            long next = count.value() == null ? 1 : count.value() + 1;
            count.update(next);
            COUNTS.put(context.getCurrentKey(), next);
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            fails = true;
        }
    }
}
