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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Keys that are equal, but of which each object has other bytes, as entities have that are equal by
 * their id. On the heap they have one state, the one written last.
 */
class EqualKeysTest {

    /** Equal by its id. */
    public static final class Customer {
        public int id;
        public String name;

        /** For the serializer. */
        public Customer() {}

        Customer(int id, String name) {
            this.id = id;
            this.name = name;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Customer && ((Customer) other).id == id;
        }

        @Override
        public int hashCode() {
            return id;
        }
    }

    private static final Customer A = new Customer(1, "a");
    private static final Customer B = new Customer(1, "b");

    private static final TypeInformation<Customer> CUSTOMERS = Types.POJO(Customer.class);
    private static final TypeSerializer<Customer> KEYS =
            CUSTOMERS.createSerializer(new SerializerConfigImpl());

    private static final ValueStateDescriptor<String> VALUE =
            new ValueStateDescriptor<>("value", Types.STRING);
    private static final ListStateDescriptor<String> LIST =
            new ListStateDescriptor<>("list", Types.STRING);
    private static final MapStateDescriptor<Customer, String> MAP =
            new MapStateDescriptor<>("map", CUSTOMERS, Types.STRING);

    @TempDir Path directory;
    private final FakeJobManager jobManager = new FakeJobManager();
    private Delegate delegate = Delegate.HASHMAP;

    /** Something a job does with its state. */
    private interface Work {
        void on(KeyedTask<Customer> task) throws Exception;
    }

    private void restoredAfter(Work before, Work after) throws Exception {
        try (KeyedTask<Customer> task = start()) {
            before.on(task);
            task.checkpoint(1);
        }
        try (KeyedTask<Customer> task = start()) {
            after.on(task);
        }
    }

    private KeyedTask<Customer> start() throws Exception {
        return KeyedTask.start(directory, delegate, KEYS, jobManager);
    }

    private static ValueState<String> value(KeyedTask<Customer> task, Customer key)
            throws Exception {
        return task.state(key, VALUE);
    }

    private static ListState<String> list(KeyedTask<Customer> task, Customer key) throws Exception {
        return task.state(key, LIST);
    }

    private static MapState<Customer, String> map(KeyedTask<Customer> task, Customer key)
            throws Exception {
        return task.state(key, MAP);
    }

    @Test
    void value_isTheLastOneWritten() throws Exception {
        restoredAfter(
                task -> {
                    value(task, B).update("old");
                    value(task, A).update("new");
                },
                task -> assertThat(value(task, B).value()).isEqualTo("new"));
    }

    @Test
    void valueThatWasCleared_isNotThere() throws Exception {
        restoredAfter(
                task -> {
                    value(task, B).update("old");
                    value(task, A).clear();
                },
                task -> assertThat(value(task, B).value()).isNull());
    }

    @Test
    void list_hasWhatCameAfterTheLastUpdate() throws Exception {
        restoredAfter(
                task -> {
                    list(task, B).add("obsolete");
                    list(task, A).update(List.of("first"));
                    list(task, B).add("second");
                    list(task, A).add("third");
                },
                task ->
                        assertThat(list(task, A).get())
                                .containsExactly("first", "second", "third"));
    }

    @Test
    void map_hasWhatCameAfterItWasCleared() throws Exception {
        restoredAfter(
                task -> {
                    map(task, B).put(B, "obsolete");
                    map(task, A).clear();
                    map(task, B).put(B, "old");
                    map(task, A).put(A, "new");
                },
                task -> {
                    List<String> values = new ArrayList<>();
                    map(task, A).values().forEach(values::add);
                    assertThat(values).containsExactly("new");
                });
    }

    @Test
    void timerThatWasDeleted_isNotThere() throws Exception {
        restoredAfter(
                task -> {
                    KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Customer, VoidNamespace>>
                            timers = timers(task);
                    timers.add(timer(B));
                    timers.remove(timer(A));
                },
                task -> assertThat(timers(task).isEmpty()).isTrue());
    }

    /** Its state is found by bytes, but not its timers. */
    @Test
    void timerOnTheHeap_beforeAChangelogOnRocksDb_isNotThereEither() throws Exception {
        delegate = Delegate.ROCKSDB_WITH_TIMERS_ON_HEAP;
        timerThatWasDeleted_isNotThere();
    }

    private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Customer, VoidNamespace>>
            timers(KeyedTask<Customer> task) {
        return task.timers("timers", VoidNamespaceSerializer.INSTANCE);
    }

    private static TimerHeapInternalTimer<Customer, VoidNamespace> timer(Customer key) {
        return new TimerHeapInternalTimer<>(1, key, VoidNamespace.INSTANCE);
    }
}
