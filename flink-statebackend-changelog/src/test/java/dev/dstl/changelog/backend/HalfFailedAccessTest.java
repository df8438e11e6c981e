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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * State accesses that fail halfway, in code or because of arguments of the job, which catches the
 * exception: the next checkpoint contains what the delegate contains.
 */
class HalfFailedAccessTest {

    private static final int BAD = 13;
    private static final int KEY = 1;

    @TempDir private Path directory;

    /** Failing accesses, in namespace "a" of a key. */
    enum Access {
        PUT_ALL_OF_A_MAP_THAT_BREAKS_OFF {
            @Override
            void run(States states) throws Exception {
                assertThatThrownBy(
                                () -> states.map("a").putAll(breaksOff(Map.of("x", "1", "y", "2"))))
                        .hasMessage("breaks off");
            }
        },
        PUT_ALL_OF_A_VALUE_THAT_CANNOT_BE_WRITTEN {
            @Override
            void run(States states) throws Exception {
                Map<String, String> entries = new TreeMap<>(Map.of("x", "1", "z", "3"));
                entries.put("y", VersionedStringSerializer.BAD);
                assertThatThrownBy(() -> states.map("a").putAll(entries))
                        .hasMessageContaining("cannot be written");
            }
        },
        PUT_ALL_OF_A_MAP_THAT_LOOKS_DIFFERENT_EACH_TIME {
            @Override
            void run(States states) throws Exception {
                states.map("a").putAll(differentEachTime());
            }
        },
        MAP_ENTRY_SET_AFTER_IT_WAS_REMOVED {
            @Override
            void run(States states) throws Exception {
                InternalMapState<Integer, String, String, String> map = states.map("a");
                Iterator<Map.Entry<String, String>> entries = map.iterator();
                Map.Entry<String, String> entry = entries.next();
                entries.remove();
                ignoreFailure(() -> entry.setValue("77"));
            }
        },
        MAP_ENTRY_SET_AFTER_THE_MAP_WAS_CLEARED {
            @Override
            void run(States states) throws Exception {
                InternalMapState<Integer, String, String, String> map = states.map("a");
                Map.Entry<String, String> entry = map.iterator().next();
                map.clear();
                ignoreFailure(() -> entry.setValue("77"));
            }
        },
        MAP_ENTRY_REMOVED_TWICE {
            @Override
            void run(States states) throws Exception {
                Iterator<Map.Entry<String, String>> entries = states.map("a").iterator();
                Map.Entry<String, String> entry = entries.next();
                entries.remove();
                states.map("a").put(entry.getKey(), "78");
                ignoreFailure(entries::remove);
            }
        },
        REDUCE_THAT_FAILS_AFTER_IT_CHANGED_THE_VALUE {
            @Override
            void run(States states) throws Exception {
                InternalReducingState<Integer, String, List<Integer>> sum = states.reducing("a");
                assertThatThrownBy(() -> sum.add(List.of(7, BAD))).hasMessage("no 13");
            }
        },
        AGGREGATE_THAT_FAILS_AFTER_IT_CHANGED_THE_ACCUMULATOR {
            @Override
            void run(States states) throws Exception {
                InternalAggregatingState<Integer, String, Integer, List<Integer>, Integer> all =
                        states.aggregating("a");
                assertThatThrownBy(() -> all.add(BAD)).hasMessage("no 13");
            }
        },
        REDUCE_THAT_FAILS_WHILE_NAMESPACES_ARE_MERGED {
            @Override
            void run(States states) throws Exception {
                states.reducing("b").add(new ArrayList<>(List.of(8)));
                states.reducing("c").add(new ArrayList<>(List.of(BAD)));
                InternalReducingState<Integer, String, List<Integer>> sum = states.reducing("a");
                assertThatThrownBy(() -> sum.mergeNamespaces("a", List.of("b", "c")))
                        .hasMessage("no 13");
            }
        },
        AGGREGATE_THAT_FAILS_WHILE_NAMESPACES_ARE_MERGED {
            @Override
            void run(States states) throws Exception {
                states.aggregating("b").add(8);
                states.aggregating("c").updateInternal(new ArrayList<>(List.of(BAD)));
                InternalAggregatingState<Integer, String, Integer, List<Integer>, Integer> all =
                        states.aggregating("a");
                assertThatThrownBy(() -> all.mergeNamespaces("a", List.of("b", "c")))
                        .hasMessage("no 13");
            }
        },
        NAMESPACES_TO_MERGE_BREAK_OFF {
            @Override
            void run(States states) throws Exception {
                states.list("b").add(8);
                InternalListState<Integer, String, Integer> list = states.list("a");
                assertThatThrownBy(
                                () ->
                                        list.mergeNamespaces(
                                                "a", breaksOffAfter(1, List.of("b", "c"))))
                        .hasStackTraceContaining("breaks off");
            }
        },
        ADD_ALL_OF_A_LIST_THAT_BREAKS_OFF_THE_THIRD_TIME {
            @Override
            void run(States states) throws Exception {
                ignoreFailure(() -> states.list("a").addAll(breaksOffLater(List.of(5, 6))));
            }
        },
        ADD_ALL_OF_A_LIST_THAT_LOOKS_DIFFERENT_EACH_TIME {
            @Override
            void run(States states) throws Exception {
                states.list("a").addAll(countsReads(2));
            }
        },
        UPDATE_WITH_A_LIST_THAT_LOOKS_DIFFERENT_EACH_TIME {
            @Override
            void run(States states) throws Exception {
                states.list("a").update(countsReads(2));
            }
        };

        abstract void run(States states) throws Exception;
    }

    static Stream<Arguments> everyAccessOverEveryDelegate() {
        return Stream.of(Delegate.HASHMAP, Delegate.ROCKSDB_INCREMENTAL)
                .flatMap(
                        delegate ->
                                Stream.of(Access.values())
                                        .map(access -> Arguments.of(delegate, access)));
    }

    @ParameterizedTest
    @MethodSource("everyAccessOverEveryDelegate")
    void nextCheckpoint_holdsWhatTheDelegateHolds(Delegate delegate, Access access)
            throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        Map<String, Object> held;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            States states = new States(task);
            states.map("a").put("k", "1");
            states.list("a").add(1);
            states.reducing("a").add(new ArrayList<>(List.of(1)));
            states.aggregating("a").add(1);
            task.checkpoint(1);

            access.run(states);
            held = states.contents();

            task.checkpoint(2);
            states.map("b").put("later", "9");
            held.put("b/map", Map.of("later", "9"));
            task.checkpoint(3);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(new States(task).contents()).isEqualTo(held);
        }
    }

    @ParameterizedTest
    @MethodSource("everyAccessOverEveryDelegate")
    void checkpointsStayIncremental_ifWhatReachedTheDelegateIsKnown(
            Delegate delegate, Access access) throws Exception {
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            States states = new States(task);
            states.map("a").put("k", "1");
            states.list("a").add(1);
            states.reducing("a").add(new ArrayList<>(List.of(1)));
            states.aggregating("a").add(1);
            ChangelogStateBackendHandle before = task.checkpoint(1);

            access.run(states);

            assertThat(task.checkpoint(2).getMaterializationID())
                    .isEqualTo(before.getMaterializationID());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void mapValueThatWasChangedInPlace_andCannotBeWritten_isInTheNextCheckpoint(boolean expires)
            throws Exception {
        MapStateDescriptor<String, List<String>> descriptor =
                new MapStateDescriptor<>(
                        "in place",
                        StringSerializer.INSTANCE,
                        new ListSerializer<>(new VersionedStringSerializer(1)));
        if (expires) {
            descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofDays(1)).build());
        }
        FakeJobManager jobManager = new FakeJobManager();
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            MapState<String, List<String>> map = task.state(KEY, descriptor);
            map.put("k", new ArrayList<>(List.of("one")));
            task.checkpoint(1);
            List<String> inPlace = map.get("k");
            inPlace.add(VersionedStringSerializer.BAD);
            assertThatThrownBy(() -> map.put("k", inPlace))
                    .hasMessageContaining("cannot be written");
            inPlace.set(1, "two");
            task.checkpoint(2);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            MapState<String, List<String>> map = task.state(KEY, descriptor);
            assertThat(map.get("k")).containsExactly("one", "two");
        }
    }

    /** States in namespaces. */
    private static final class States {

        private final TestTask task;

        States(TestTask task) {
            this.task = task;
        }

        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the descriptor decides
        private <S extends State, I> I state(String namespace, StateDescriptor<S, ?> descriptor)
                throws Exception {
            task.backend().setCurrentKey(KEY);
            return (I)
                    task.backend()
                            .getPartitionedState(namespace, StringSerializer.INSTANCE, descriptor);
        }

        InternalMapState<Integer, String, String, String> map(String namespace) throws Exception {
            return state(
                    namespace,
                    new MapStateDescriptor<>(
                            "m", StringSerializer.INSTANCE, new VersionedStringSerializer(1)));
        }

        InternalListState<Integer, String, Integer> list(String namespace) throws Exception {
            return state(namespace, new ListStateDescriptor<>("l", IntSerializer.INSTANCE));
        }

        InternalReducingState<Integer, String, List<Integer>> reducing(String namespace)
                throws Exception {
            return state(
                    namespace,
                    new ReducingStateDescriptor<>(
                            "r",
                            new Concatenation(),
                            new ListSerializer<>(IntSerializer.INSTANCE)));
        }

        InternalAggregatingState<Integer, String, Integer, List<Integer>, Integer> aggregating(
                String namespace) throws Exception {
            return state(
                    namespace,
                    new AggregatingStateDescriptor<>(
                            "g", new Collected(), new ListSerializer<>(IntSerializer.INSTANCE)));
        }

        Map<String, Object> contents() throws Exception {
            Map<String, Object> contents = new TreeMap<>();
            for (String namespace : List.of("a", "b", "c")) {
                Map<String, String> entries = new TreeMap<>();
                for (Map.Entry<String, String> entry : map(namespace).entries()) {
                    entries.put(entry.getKey(), entry.getValue());
                }
                if (!entries.isEmpty()) {
                    contents.put(namespace + "/map", entries);
                }
                putIfPresent(contents, namespace + "/list", list(namespace).getInternal());
                putIfPresent(contents, namespace + "/reducing", reducing(namespace).getInternal());
                putIfPresent(
                        contents, namespace + "/aggregating", aggregating(namespace).getInternal());
            }
            return contents;
        }

        private static void putIfPresent(
                Map<String, Object> contents, String name, List<Integer> elements) {
            if (elements != null) {
                contents.put(name, new ArrayList<>(elements));
            }
        }
    }

    private static final class Concatenation implements ReduceFunction<List<Integer>> {
        private static final long serialVersionUID = 1L;

        @Override
        public List<Integer> reduce(List<Integer> left, List<Integer> right) {
            for (Integer each : right) {
                if (each == BAD) {
                    throw new IllegalArgumentException("no 13");
                }
                left.add(each);
            }
            return left;
        }
    }

    private static final class Collected
            implements AggregateFunction<Integer, List<Integer>, Integer> {
        private static final long serialVersionUID = 1L;

        @Override
        public List<Integer> createAccumulator() {
            return new ArrayList<>();
        }

        @Override
        public List<Integer> add(Integer value, List<Integer> accumulator) {
            accumulator.add(-value);
            if (value == BAD) {
                throw new IllegalArgumentException("no 13");
            }
            return accumulator;
        }

        @Override
        public Integer getResult(List<Integer> accumulator) {
            return accumulator.size();
        }

        @Override
        public List<Integer> merge(List<Integer> left, List<Integer> right) {
            return new Concatenation().reduce(left, right);
        }
    }

    private interface Code {
        void run() throws Exception;
    }

    private static void ignoreFailure(Code code) {
        try {
            code.run();
        } catch (Exception e) {
            assertThat(e).isInstanceOf(RuntimeException.class);
        }
    }

    private static <K, V> Map<K, V> breaksOff(Map<K, V> entries) {
        return new AbstractMap<>() {
            @Override
            public Set<Entry<K, V>> entrySet() {
                return new java.util.AbstractSet<>() {
                    @Override
                    public Iterator<Entry<K, V>> iterator() {
                        return breaksOffAfter(1, List.copyOf(entries.entrySet())).iterator();
                    }

                    @Override
                    public int size() {
                        return entries.size();
                    }
                };
            }
        };
    }

    private static Map<String, String> differentEachTime() {
        int[] reads = new int[1];
        return new AbstractMap<>() {
            @Override
            public Set<Entry<String, String>> entrySet() {
                return Map.of("x", "read " + ++reads[0]).entrySet();
            }
        };
    }

    private static <T> List<T> breaksOffAfter(int count, List<T> elements) {
        return new AbstractList<>() {
            @Override
            public T get(int index) {
                if (index >= count) {
                    throw new IllegalStateException("breaks off");
                }
                return elements.get(index);
            }

            @Override
            public int size() {
                return elements.size();
            }
        };
    }

    private static <T> List<T> breaksOffLater(List<T> elements) {
        int[] reads = new int[1];
        return new AbstractList<>() {
            @Override
            public T get(int index) {
                if (++reads[0] > 5) {
                    throw new IllegalStateException("breaks off");
                }
                return elements.get(index);
            }

            @Override
            public int size() {
                return elements.size();
            }
        };
    }

    private static List<Integer> countsReads(int size) {
        int[] reads = new int[1];
        return new AbstractList<>() {
            @Override
            public Integer get(int index) {
                return ++reads[0];
            }

            @Override
            public int size() {
                return size;
            }
        };
    }
}
