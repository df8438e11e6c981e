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

package dev.dstl.spillable.benchmark;

import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/** A kind of state, with a typical access per record. */
enum StateKind {
    /** One counter: read, written. */
    VALUE {
        @Override
        Access open(AbstractKeyedStateBackend<Long> backend) throws Exception {
            ValueState<Long> counter =
                    state(backend, new ValueStateDescriptor<>("kind", Types.LONG));
            return pass -> {
                Long count = counter.value();
                counter.update(count == null ? 1L : count + 1);
            };
        }
    },
    /** A list that grows to seven elements and is then cleared. */
    LIST {
        @Override
        Access open(AbstractKeyedStateBackend<Long> backend) throws Exception {
            ListState<Long> list = state(backend, new ListStateDescriptor<>("kind", Types.LONG));
            return pass -> {
                if (pass % LENGTH == LENGTH - 1) {
                    list.clear();
                } else {
                    list.add(pass);
                }
            };
        }
    },
    /** Eight counters in a map: one of them read, written. */
    MAP {
        @Override
        Access open(AbstractKeyedStateBackend<Long> backend) throws Exception {
            MapState<Long, Long> counters =
                    state(backend, new MapStateDescriptor<>("kind", Types.LONG, Types.LONG));
            return pass -> {
                Long userKey = pass % LENGTH;
                Long count = counters.get(userKey);
                counters.put(userKey, count == null ? 1L : count + 1);
            };
        }
    },
    /** A sum. */
    REDUCING {
        @Override
        Access open(AbstractKeyedStateBackend<Long> backend) throws Exception {
            ReducingState<Long> sum =
                    state(
                            backend,
                            new ReducingStateDescriptor<>(
                                    "kind", Long::sum, LongSerializer.INSTANCE));
            return sum::add;
        }
    },
    /** A maximum in an accumulator. */
    AGGREGATING {
        @Override
        Access open(AbstractKeyedStateBackend<Long> backend) throws Exception {
            AggregatingState<Long, Long> maximum =
                    state(
                            backend,
                            new AggregatingStateDescriptor<>("kind", new Maximum(), Types.LONG));
            return maximum::add;
        }
    };

    private static final int LENGTH = 8;

    abstract Access open(AbstractKeyedStateBackend<Long> backend) throws Exception;

    private static <S extends State> S state(
            AbstractKeyedStateBackend<Long> backend, StateDescriptor<S, ?> descriptor)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    /** An access to the state of the current key. */
    interface Access {
        /**
         * @param pass how many accesses of the key came before
         */
        void run(long pass) throws Exception;
    }

    private static final class Maximum implements AggregateFunction<Long, Long, Long> {

        private static final long serialVersionUID = 1L;

        @Override
        public Long createAccumulator() {
            return Long.MIN_VALUE;
        }

        @Override
        public Long add(Long value, Long accumulator) {
            return Math.max(value, accumulator);
        }

        @Override
        public Long getResult(Long accumulator) {
            return accumulator;
        }

        @Override
        public Long merge(Long one, Long other) {
            return Math.max(one, other);
        }
    }
}
