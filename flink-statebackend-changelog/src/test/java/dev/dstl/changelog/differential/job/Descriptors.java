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

package dev.dstl.changelog.differential.job;

import dev.dstl.changelog.differential.schema.TypeFamily;
import java.time.Duration;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** Creates descriptors of the states of a job in one generation. */
final class Descriptors {

    /** Time to live of state that has one. */
    static final Duration TIME_TO_LIVE = Duration.ofSeconds(100);

    private Descriptors() {}

    static StateDescriptor<?, ?> of(StateSpec spec, int generation) {
        StateDescriptor<?, ?> descriptor = withoutTimeToLive(spec, generation);
        if (spec.expires()) {
            StateTtlConfig.Builder timeToLive =
                    StateTtlConfig.newBuilder(TIME_TO_LIVE).cleanupIncrementally(3, false);
            descriptor.enableTimeToLive(
                    crashesRocksDb(spec)
                            ? timeToLive.disableCleanupInBackground().build()
                            : timeToLive.cleanupInRocksdbCompactFilter(7).build());
        }
        return descriptor;
    }

    /**
     * RocksDB's compactions read elements of a list with the serializer of the new version before
     * Flink has migrated them. Where that fails, the process crashes.
     */
    private static boolean crashesRocksDb(StateSpec spec) {
        return spec.kind() == StateKind.LIST && spec.values().changes();
    }

    private static StateDescriptor<?, ?> withoutTimeToLive(StateSpec spec, int generation) {
        TypeSerializer<Object> values = spec.values().serializer(generation);
        switch (spec.kind()) {
            case VALUE:
                return new ValueStateDescriptor<>(spec.name(), values);
            case LIST:
                return new ListStateDescriptor<>(spec.name(), values);
            case MAP:
                return new MapStateDescriptor<>(
                        spec.name(), spec.userKeys().serializer(generation), values);
            case REDUCING:
                return new ReducingStateDescriptor<>(
                        spec.name(), new Combination(spec.values(), generation), values);
            default:
                return new AggregatingStateDescriptor<>(
                        spec.name(), new Accumulation(spec.values(), generation), values);
        }
    }

    /** Combines two values; the result shows their order. */
    private static Object combined(TypeFamily family, int generation, Object left, Object right) {
        UserFault.check();
        return family.value(
                generation,
                (31 * family.text(generation, left).hashCode()
                                + family.text(generation, right).hashCode())
                        & 0xfff);
    }

    private static final class Combination implements ReduceFunction<Object> {

        private static final long serialVersionUID = 1L;

        private final TypeFamily family;
        private final int generation;

        Combination(TypeFamily family, int generation) {
            this.family = family;
            this.generation = generation;
        }

        @Override
        public Object reduce(Object left, Object right) {
            return combined(family, generation, left, right);
        }
    }

    private static final class Accumulation implements AggregateFunction<Object, Object, String> {

        private static final long serialVersionUID = 1L;

        private final TypeFamily family;
        private final int generation;

        Accumulation(TypeFamily family, int generation) {
            this.family = family;
            this.generation = generation;
        }

        @Override
        public Object createAccumulator() {
            return family.value(generation, 0);
        }

        @Override
        public Object add(Object value, Object accumulator) {
            return combined(family, generation, accumulator, value);
        }

        @Override
        public String getResult(Object accumulator) {
            return family.text(generation, accumulator);
        }

        @Override
        public Object merge(Object left, Object right) {
            return combined(family, generation, left, right);
        }
    }
}
