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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;

/** States of a subtask with the accounts of {@link AccountJob}, registered on first access. */
final class AccountStates {

    private static final int KEYS = 40;

    final KeyedTask<Integer> task;
    private final Class<Object> type;
    private final KeyGroupRange keyGroups;
    private Class<?> written;
    private final ValueStateDescriptor<Object> value;
    private final ListStateDescriptor<Object> list;
    private final MapStateDescriptor<String, Object> map;
    private final ReducingStateDescriptor<Object> reducing;
    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers;

    @SuppressWarnings("unchecked") // The class is known at run time only.
    AccountStates(KeyedTask<Integer> task, ClassLoader job, KeyGroupRange keyGroups)
            throws ReflectiveOperationException {
        this.task = task;
        this.keyGroups = keyGroups;
        type = (Class<Object>) job.loadClass("Account");
        written = type;
        TypeSerializer<Object> serializer =
                Types.POJO(type).createSerializer(new SerializerConfigImpl());
        value = new ValueStateDescriptor<>("value", serializer);
        list = new ListStateDescriptor<>("list", serializer.duplicate());
        map = new MapStateDescriptor<>("map", StringSerializer.INSTANCE, serializer.duplicate());
        reducing =
                new ReducingStateDescriptor<>(
                        "reducing", (before, added) -> added, serializer.duplicate());
    }

    /** Uses the subclass from now on. */
    void useSubclass() throws ReflectiveOperationException {
        written = type.getClassLoader().loadClass("Special");
    }

    /** Writes an instance of the subclass, which makes it known to the serializers. */
    void writeSubclass() throws Exception {
        Object special = type.getClassLoader().loadClass("Special").getConstructor().newInstance();
        for (int key : keys()) {
            task.state(key, value).update(special);
            task.state(key, list).update(List.of(special));
            task.state(key, map).put("special", special);
            task.state(key, map).remove("special");
            task.state(key, reducing).add(special);
            task.state(key, reducing).clear();
        }
    }

    /**
     * Writes all accounts.
     *
     * @param since value of the new field, 0 if the class does not have it
     */
    void write(int since) throws Exception {
        for (int key : keys()) {
            Object account = account(key, since);
            task.state(key, value).update(account);
            task.state(key, list).update(List.of(account, account(1, since)));
            task.state(key, map).put("a", account);
            task.state(key, reducing).add(account);
            timers().add(new TimerHeapInternalTimer<>(key, key, VoidNamespace.INSTANCE));
        }
    }

    /** Asserts the state that subtasks 0 and 1 of two had written. */
    void assertContents(int sinceOfFirst, int sinceOfSecond) throws Exception {
        for (int key : keys()) {
            int since = keyGroup(key) < 4 ? sinceOfFirst : sinceOfSecond;
            Map<String, String> found = new TreeMap<>();
            found.put("value", string(task.state(key, value).value()));
            StringBuilder elements = new StringBuilder();
            for (Object element : task.state(key, list).get()) {
                elements.append(string(element)).append(';');
            }
            found.put("list", elements.toString());
            found.put("map", string(task.state(key, map).get("a")));
            found.put("reducing", string(task.state(key, reducing).get()));
            String expected = string(account(key, since));
            assertThat(found)
                    .as("key %s", key)
                    .isEqualTo(
                            Map.of(
                                    "value",
                                    expected,
                                    "list",
                                    expected + ";" + string(account(1, since)) + ";",
                                    "map",
                                    expected,
                                    "reducing",
                                    expected));
        }
        assertThat(timers().size()).isEqualTo(keys().size());
    }

    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
            timers() {
        if (timers == null) {
            timers = task.timers("timers", VoidNamespaceSerializer.INSTANCE);
        }
        return timers;
    }

    private List<Integer> keys() {
        List<Integer> keys = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            if (keyGroups.contains(keyGroup(key))) {
                keys.add(key);
            }
        }
        return keys;
    }

    private static int keyGroup(int key) {
        return KeyGroupRangeAssignment.assignToKeyGroup(key, TestTask.KEY_GROUPS);
    }

    private Object account(int key, int since) throws ReflectiveOperationException {
        Object account = written.getConstructor().newInstance();
        type.getField("cents").setLong(account, 100 + key);
        if (since > 0) {
            type.getField("since").setInt(account, since);
        }
        return account;
    }

    private String string(Object account) throws ReflectiveOperationException {
        if (account == null) {
            return "none";
        }
        long cents = type.getField("cents").getLong(account);
        return type.getFields().length == 1
                ? cents + "/0"
                : cents + "/" + type.getField("since").getInt(account);
    }
}
