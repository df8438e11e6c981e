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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.DstlStateBackend;
import dev.dstl.spillable.SpillableStateBackend;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.SavepointReader;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Flink's State Processor API reads checkpoints and savepoints of a job with a changelog. */
class StateProcessorITCase {

    @TempDir static Path directory;
    private static final Map<SavepointFormatType, String> SAVEPOINTS =
            new EnumMap<>(SavepointFormatType.class);
    private static String checkpoint;

    @BeforeAll
    static void leaveSomethingBehind() throws Exception {
        try (TotalsCluster cluster = new TotalsCluster(new TotalsJob("rocksdb", directory))) {
            JobID job = cluster.run();
            for (SavepointFormatType format : SavepointFormatType.values()) {
                SAVEPOINTS.put(
                        format, cluster.savepoint(job, directory.resolve("savepoints"), format));
            }
            checkpoint = cluster.cancel(job);
        }
    }

    @ParameterizedTest
    @EnumSource(SavepointFormatType.class)
    void savepointOfEitherFormat_isReadByThePlainBackend(SavepointFormatType format)
            throws Exception {
        assertThat(read(SAVEPOINTS.get(format), new EmbeddedRocksDBStateBackend()))
                .isEqualTo(TotalsJob.expected());
    }

    @Test
    void canonicalSavepoint_isReadByTheSpillableHeap() throws Exception {
        assertThat(read(SAVEPOINTS.get(SavepointFormatType.CANONICAL), new SpillableStateBackend()))
                .isEqualTo(TotalsJob.expected());
    }

    @Test
    void checkpointWithALog_isReadByThePlainBackend() throws Exception {
        assertThat(read(checkpoint, new EmbeddedRocksDBStateBackend()))
                .isEqualTo(TotalsJob.expected());
    }

    @Test
    void checkpointWithALog_isReadByTheBackendThatWroteIt() throws Exception {
        assertThat(read(checkpoint, new DstlStateBackend(new EmbeddedRocksDBStateBackend())))
                .isEqualTo(TotalsJob.expected());
    }

    @SuppressWarnings("try") // close() is declared with Exception by Flink
    private static Map<Long, Long> read(String path, StateBackend backend) throws Exception {
        Map<Long, Long> totals = new TreeMap<>();
        try (StreamExecutionEnvironment environment =
                        StreamExecutionEnvironment.createLocalEnvironment(2, new Configuration());
                CloseableIterator<Tuple2<Long, Long>> found =
                        SavepointReader.read(environment, path, backend)
                                .readKeyedState(
                                        OperatorIdentifier.forUid(TotalsJob.UID),
                                        new TotalsReader(),
                                        Types.LONG,
                                        Types.TUPLE(Types.LONG, Types.LONG))
                                .executeAndCollect()) {
            found.forEachRemaining(total -> assertThat(totals.put(total.f0, total.f1)).isNull());
        }
        return totals;
    }

    /** Emits the total of each key, in which all states must agree. */
    private static final class TotalsReader
            extends KeyedStateReaderFunction<Long, Tuple2<Long, Long>> {

        private static final long serialVersionUID = 1L;

        private transient ValueState<Long> total;
        private transient MapState<Long, Long> parts;
        private transient ListState<Long> numbers;

        @Override
        public void open(Configuration parameters) {
            total = getRuntimeContext().getState(TotalsJob.total());
            parts = getRuntimeContext().getMapState(TotalsJob.parts());
            numbers = getRuntimeContext().getListState(TotalsJob.numbers());
        }

        @Override
        public void readKey(Long key, Context context, Collector<Tuple2<Long, Long>> out)
                throws Exception {
            long ofParts = sum(parts.values());
            long ofNumbers = sum(numbers.get());
            long timers = sum(context.registeredEventTimeTimers());
            if (total.value() != ofParts || ofParts != ofNumbers || ofNumbers != timers) {
                throw new IllegalStateException(
                        String.format(
                                "The states of key %d differ: %d, %d, %d, %d",
                                key, total.value(), ofParts, ofNumbers, timers));
            }
            out.collect(Tuple2.of(key, total.value()));
        }

        private static long sum(Iterable<Long> numbers) {
            return StreamSupport.stream(numbers.spliterator(), false)
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }
}
