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

package dev.dstl.changelog.state;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.dstl.changelog.delegate.DelegateStates;
import dev.dstl.changelog.fixture.CountingLogWriter;
import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.LastValue;
import dev.dstl.changelog.record.ChangelogAppender;
import java.lang.management.ManagementFactory;
import java.util.BitSet;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.AppendingState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory that logged writes of values, keys and namespaces for Kryo allocate over RocksDB. */
class LoggedKryoAllocationTest {

    private static final int WRITES = 10_000;

    private static final BitSet[] EACH = {BitSet.valueOf(new long[] {7}), new BitSet()};

    /** A POJO with a field for Kryo. */
    public static final class Event {
        /** Any bits. */
        public BitSet bits = new BitSet();
    }

    /** Writes of one kind of state. */
    enum Write {
        VALUE {
            @Override
            StateDescriptor<?, ?> descriptor() {
                return new ValueStateDescriptor<>("value", forKryo());
            }

            @Override
            @SuppressWarnings("unchecked") // as the descriptor says
            void run(State state, BitSet bits) throws Exception {
                ((ValueState<BitSet>) state).update(bits);
            }
        },
        FIELD {
            @Override
            StateDescriptor<?, ?> descriptor() {
                return new ValueStateDescriptor<>("field", serializer(Types.POJO(Event.class)));
            }

            @Override
            @SuppressWarnings("unchecked") // as the descriptor says
            void run(State state, BitSet bits) throws Exception {
                Event event = new Event();
                event.bits = bits;
                ((ValueState<Event>) state).update(event);
            }
        },
        MAP {
            @Override
            StateDescriptor<?, ?> descriptor() {
                return new MapStateDescriptor<>("map", forKryo(), forKryo());
            }

            @Override
            @SuppressWarnings("unchecked") // as the descriptor says
            void run(State state, BitSet bits) throws Exception {
                ((MapState<BitSet, BitSet>) state).put(bits, bits);
            }
        },
        LIST {
            @Override
            StateDescriptor<?, ?> descriptor() {
                return new ListStateDescriptor<>("list", forKryo());
            }

            @Override
            void run(State state, BitSet bits) throws Exception {
                add(state, bits);
            }
        },
        REDUCING {
            @Override
            StateDescriptor<?, ?> descriptor() {
                return new ReducingStateDescriptor<>(
                        "reducing", (before, added) -> added, forKryo());
            }

            @Override
            void run(State state, BitSet bits) throws Exception {
                add(state, bits);
            }
        },
        AGGREGATING {
            @Override
            StateDescriptor<?, ?> descriptor() {
                return new AggregatingStateDescriptor<>(
                        "aggregating", new LastValue<>(), forKryo());
            }

            @Override
            void run(State state, BitSet bits) throws Exception {
                add(state, bits);
            }
        };

        abstract StateDescriptor<?, ?> descriptor();

        abstract void run(State state, BitSet bits) throws Exception;

        @SuppressWarnings("unchecked") // as the descriptor says
        private static void add(State state, BitSet bits) throws Exception {
            ((AppendingState<BitSet, ?>) state).add(bits);
        }
    }

    @ParameterizedTest
    @EnumSource
    void changelogAddsLittleToWhatRocksDbAllocates(Write write) throws Exception {
        double alone = allocatedPerWrite(write, false);
        double logged = allocatedPerWrite(write, true);

        assertThat(logged - alone).as("bytes per write; alone %.0f", alone).isLessThan(1024);
    }

    private static double allocatedPerWrite(Write write, boolean logged) throws Exception {
        try (Delegate<BitSet> delegate = Delegate.Kind.ROCKS_DB.create(forKryo())) {
            InternalKvState<BitSet, BitSet, ?> state = state(delegate, write.descriptor(), logged);
            write(delegate, state, write);

            long before = allocatedBytes();
            write(delegate, state, write);
            return (double) (allocatedBytes() - before) / WRITES;
        }
    }

    private static <S extends State, V> InternalKvState<BitSet, BitSet, V> state(
            Delegate<BitSet> delegate, StateDescriptor<S, V> descriptor, boolean logged)
            throws Exception {
        return logged
                ? new LoggedStateRegistry<>(
                                delegate.backend(), new ChangelogAppender(new CountingLogWriter()))
                        .createOrUpdateState(
                                forKryo(),
                                descriptor,
                                StateSnapshotTransformFactory.noTransform(),
                                false)
                : DelegateStates.register(
                        delegate.backend(),
                        forKryo(),
                        descriptor,
                        StateSnapshotTransformFactory.noTransform(),
                        false);
    }

    private static void write(
            Delegate<BitSet> delegate, InternalKvState<BitSet, BitSet, ?> state, Write write)
            throws Exception {
        for (int i = 0; i < WRITES; i++) {
            BitSet bits = EACH[i & 1];
            delegate.backend().setCurrentKey(bits);
            state.setCurrentNamespace(bits);
            write.run(state, bits);
        }
    }

    private static TypeSerializer<BitSet> forKryo() {
        return serializer(new GenericTypeInfo<>(BitSet.class));
    }

    private static <T> TypeSerializer<T> serializer(TypeInformation<T> type) {
        return type.createSerializer(new SerializerConfigImpl());
    }

    private static long allocatedBytes() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    }
}
