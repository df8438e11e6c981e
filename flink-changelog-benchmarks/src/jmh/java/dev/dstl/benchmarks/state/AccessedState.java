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

package dev.dstl.benchmarks.state;

import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;

/** The kinds of state, each with a typical access per record. */
public enum AccessedState {
    /** Reads a counter and writes it. */
    VALUE {
        @Override
        Access open(KeyedTask task) throws Exception {
            ValueState<Long> state =
                    task.state(new ValueStateDescriptor<>("value", LongSerializer.INSTANCE));
            return pass -> {
                Long value = state.value();
                state.update(value == null ? 1L : value + 1);
            };
        }
    },
    /** Adds an element; every eighth time clears instead. */
    LIST {
        @Override
        Access open(KeyedTask task) throws Exception {
            ListState<Long> state =
                    task.state(new ListStateDescriptor<>("list", LongSerializer.INSTANCE));
            return pass -> {
                if (pass % LIST_LENGTH == LIST_LENGTH - 1) {
                    state.clear();
                } else {
                    state.add(pass);
                }
            };
        }
    },
    /** Reads a counter of a user key and writes it. */
    MAP {
        @Override
        Access open(KeyedTask task) throws Exception {
            MapState<Long, Long> state =
                    task.state(
                            new MapStateDescriptor<>(
                                    "map", LongSerializer.INSTANCE, LongSerializer.INSTANCE));
            return pass -> {
                Long userKey = pass % USER_KEYS;
                Long value = state.get(userKey);
                state.put(userKey, value == null ? 1L : value + 1);
            };
        }
    },
    /** Adds to a sum. */
    REDUCING {
        @Override
        Access open(KeyedTask task) throws Exception {
            ReducingState<Long> state =
                    task.state(
                            new ReducingStateDescriptor<>(
                                    "sum", Long::sum, LongSerializer.INSTANCE));
            return state::add;
        }
    },
    /** Adds to a sum through an accumulator. */
    AGGREGATING {
        @Override
        Access open(KeyedTask task) throws Exception {
            AggregatingState<Long, Long> state =
                    task.state(
                            new AggregatingStateDescriptor<>(
                                    "sum", new Sum(), LongSerializer.INSTANCE));
            return state::add;
        }
    };

    private static final int LIST_LENGTH = 8;
    private static final int USER_KEYS = 8;

    abstract Access open(KeyedTask task) throws Exception;

    /** One access under the current key. */
    interface Access {
        /**
         * @param pass how often each key was accessed before
         */
        void access(long pass) throws Exception;
    }

    private static final class Sum implements AggregateFunction<Long, Long, Long> {

        private static final long serialVersionUID = 1L;

        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Long value, Long accumulator) {
            return accumulator + value;
        }

        @Override
        public Long getResult(Long accumulator) {
            return accumulator;
        }

        @Override
        public Long merge(Long left, Long right) {
            return left + right;
        }
    }
}
