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

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.internal.InternalListState;

/** A state of each kind, its operations and its expected content. */
final class EveryState {

    static final int KEYS = 20;

    /** What a golden checkpoint has does not expire either. */
    private static final StateTtlConfig A_CENTURY =
            StateTtlConfig.newBuilder(Duration.ofDays(36_500))
                    .cleanupIncrementally(7, true)
                    .cleanupInRocksdbCompactFilter(11)
                    .build();

    private final TestTask task;

    EveryState(TestTask task) {
        this.task = task;
    }

    private <S extends State> S state(int key, StateDescriptor<S, ?> descriptor) throws Exception {
        return task.state(key, descriptor);
    }

    @SuppressWarnings("deprecation") // jobs may still give default values
    private ValueState<String> withDefault(int key) throws Exception {
        return state(key, new ValueStateDescriptor<>("with default", String.class, "nothing yet"));
    }

    private ValueState<String> expiring(int key) throws Exception {
        ValueStateDescriptor<String> descriptor =
                new ValueStateDescriptor<>("expiring", String.class);
        descriptor.enableTimeToLive(A_CENTURY);
        return state(key, descriptor);
    }

    private MapState<String, Long> expiringMap(int key) throws Exception {
        MapStateDescriptor<String, Long> descriptor =
                new MapStateDescriptor<>("expiring map", String.class, Long.class);
        descriptor.enableTimeToLive(A_CENTURY);
        return state(key, descriptor);
    }

    private ListState<String> expiringList(int key) throws Exception {
        ListStateDescriptor<String> descriptor =
                new ListStateDescriptor<>("expiring list", String.class);
        descriptor.enableTimeToLive(A_CENTURY);
        return state(key, descriptor);
    }

    private ReducingState<Long> sum(int key) throws Exception {
        return state(key, new ReducingStateDescriptor<>("sum", Long::sum, LongSerializer.INSTANCE));
    }

    private AggregatingState<String, String> joined(int key) throws Exception {
        return state(
                key,
                new AggregatingStateDescriptor<>(
                        "joined", new Joined(), StringSerializer.INSTANCE));
    }

    @SuppressWarnings("unchecked")
    private InternalListState<Integer, String, String> windows(int key) throws Exception {
        task.backend().setCurrentKey(key);
        return (InternalListState<Integer, String, String>)
                (Object)
                        task.backend()
                                .getOrCreateKeyedState(
                                        StringSerializer.INSTANCE,
                                        new ListStateDescriptor<>("windows", String.class));
    }

    /** Applies every operation to the keys of a range; values depend on the round. */
    void change(int round, KeyGroupRange keyGroups) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            if (owns(keyGroups, key)) {
                change(round, key);
            }
        }
    }

    private void change(int round, int key) throws Exception {
        String text = round + "/" + key;
        if ((key + round) % 5 == 0) {
            clear(key);
        }
        task.value(key).update(text);
        expiring(key).update(text);
        expiringMap(key).put(text, (long) key);
        expiringList(key).add(text);
        sum(key).add((long) round + key);
        joined(key).add(text + " ");
        if (key % 3 == 0) {
            withDefault(key).update(text);
        }
        changeLists(text, key);
        changeMap(round, text, key);
        task.backend().setCurrentKey(key);
        task.timers().add(TestTask.timer(key, 1000L * round + key));
        task.timers().add(TestTask.timer(key, 500_000L + 1000L * round + key));
        task.timers().remove(TestTask.timer(key, 500_000L + 1000L * (round - 1) + key));
        if (key % 4 == 0) {
            // As Flink does before it fires a timer.
            task.backend().setCurrentKey(task.timers().peek().getKey());
            task.timers().poll();
        }
    }

    private void changeLists(String text, int key) throws Exception {
        task.list(key).add(text);
        task.list(key).addAll(Arrays.asList(text + "a", text + "b"));
        if (key % 3 == 1) {
            task.list(key).update(Arrays.asList("only", text));
        }
        InternalListState<Integer, String, String> windows = windows(key);
        for (String window : Arrays.asList("early", "late")) {
            windows.setCurrentNamespace(window);
            windows.add(text + window);
        }
        if (key % 2 == 0) {
            windows.mergeNamespaces("early", Arrays.asList("late"));
        }
    }

    private void changeMap(int round, String text, int key) throws Exception {
        MapState<String, String> map = task.map(key);
        map.put("round " + round, text);
        map.putAll(new TreeMap<>(Map.of("a", text, "b", text, "c", text)));
        map.remove("b");
        for (Map.Entry<String, String> entry : map.entries()) {
            if (entry.getKey().equals("a")) {
                entry.setValue("set " + text);
            }
        }
        map.iterator().forEachRemaining(entry -> {});
        java.util.Iterator<String> keys = map.keys().iterator();
        while (keys.hasNext()) {
            if (keys.next().equals("c")) {
                keys.remove();
            }
        }
    }

    private void clear(int key) throws Exception {
        task.value(key).clear();
        task.list(key).clear();
        task.map(key).clear();
        withDefault(key).clear();
        expiring(key).clear();
        expiringMap(key).clear();
        sum(key).clear();
        joined(key).clear();
        windows(key).setCurrentNamespace("early");
        windows(key).clear();
    }

    /** Returns the contents of all states in some key groups. */
    Map<String, Object> contents(KeyGroupRange keyGroups) throws Exception {
        Map<String, Object> contents = new TreeMap<>();
        for (int key = 0; key < KEYS; key++) {
            if (owns(keyGroups, key)) {
                contents.put("value of " + key, String.valueOf(task.value(key).value()));
                contents.put("default of " + key, String.valueOf(withDefault(key).value()));
                contents.put("expiring of " + key, String.valueOf(expiring(key).value()));
                contents.put("sum of " + key, String.valueOf(sum(key).get()));
                contents.put("joined of " + key, String.valueOf(joined(key).get()));
                contents.put("list of " + key, listed(task.list(key).get()));
                contents.put("expiring list of " + key, listed(expiringList(key).get()));
                contents.put("map of " + key, mapped(task.map(key)));
                contents.put("expiring map of " + key, mapped(expiringMap(key)));
                for (String window : Arrays.asList("early", "late")) {
                    windows(key).setCurrentNamespace(window);
                    contents.put(window + " window of " + key, listed(windows(key).get()));
                }
            }
        }
        contents.put("timers", task.timerTimes());
        return contents;
    }

    static boolean owns(KeyGroupRange keyGroups, int key) {
        return keyGroups.contains(
                KeyGroupRangeAssignment.assignToKeyGroup(key, TestTask.KEY_GROUPS));
    }

    private static List<String> listed(Iterable<String> elements) {
        List<String> list = new ArrayList<>();
        if (elements != null) {
            elements.forEach(list::add);
        }
        return list;
    }

    private static <V> Map<String, V> mapped(MapState<String, V> state) throws Exception {
        Map<String, V> map = new TreeMap<>();
        for (Map.Entry<String, V> entry : state.entries()) {
            map.put(entry.getKey(), entry.getValue());
        }
        return map;
    }

    private static final class Joined implements AggregateFunction<String, String, String> {

        private static final long serialVersionUID = 1L;

        @Override
        public String createAccumulator() {
            return "";
        }

        @Override
        public String add(String value, String accumulator) {
            return accumulator + value;
        }

        @Override
        public String getResult(String accumulator) {
            return accumulator;
        }

        @Override
        public String merge(String left, String right) {
            return left + right;
        }
    }
}
