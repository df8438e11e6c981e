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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/** What the states of {@link KeyedSubtask}s contain, in plain maps. */
final class ModelState {

    private static final int KEYS = 2_000;

    private final Map<Integer, String> values = new HashMap<>();
    private final Map<Integer, List<String>> lists = new HashMap<>();
    private final Map<Integer, Map<String, String>> maps = new HashMap<>();

    ModelState copy() {
        ModelState copy = new ModelState();
        copy.values.putAll(values);
        lists.forEach((k, v) -> copy.lists.put(k, new ArrayList<>(v)));
        maps.forEach((k, v) -> copy.maps.put(k, new HashMap<>(v)));
        return copy;
    }

    /** Changes some keys at random, here and in the subtasks. */
    void change(int operations, List<KeyedSubtask> subtasks, Random random) throws Exception {
        // Some keys only, so that some partitions stay as they are.
        int first = random.nextInt(KEYS);
        for (int i = 0; i < operations; i++) {
            int key = (first + random.nextInt(KEYS / 4)) % KEYS;
            KeyedSubtask subtask = select(subtasks, key);
            switch (random.nextInt(8)) {
                case 0:
                    subtask.value.clear();
                    values.remove(key);
                    break;
                case 1:
                    subtask.map.clear();
                    maps.remove(key);
                    break;
                case 2:
                    String element = text(30, random);
                    subtask.list.add(element);
                    lists.computeIfAbsent(key, k -> new ArrayList<>()).add(element);
                    break;
                case 3:
                    // Enough of them for several buckets.
                    int mapKey = key % 16;
                    subtask = select(subtasks, mapKey);
                    for (int j = 0; j < 20; j++) {
                        putInMap(subtask, mapKey, "user key " + random.nextInt(500), random);
                    }
                    break;
                case 4:
                    putInMap(subtask, key, "user key " + random.nextInt(5), random);
                    break;
                default:
                    String text = text(random.nextInt(200) == 0 ? 20_000 : 400, random);
                    subtask.value.update(text);
                    values.put(key, text);
            }
        }
    }

    private void putInMap(KeyedSubtask subtask, int key, String userKey, Random random)
            throws Exception {
        String text = text(20, random);
        subtask.map.put(userKey, text);
        maps.computeIfAbsent(key, k -> new HashMap<>()).put(userKey, text);
    }

    private static String text(int longest, Random random) {
        char[] chars = new char[random.nextInt(longest)];
        Arrays.fill(chars, (char) ('a' + random.nextInt(26)));
        return new String(chars);
    }

    /** Asserts that the subtasks have this state and no other. */
    void verify(List<KeyedSubtask> subtasks) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            KeyedSubtask subtask = select(subtasks, key);
            assertThat(subtask.value.value()).isEqualTo(values.get(key));
            assertThat(subtask.list.get()).isEqualTo(lists.get(key));
            Map<String, String> map = new HashMap<>();
            for (Map.Entry<String, String> entry : subtask.map.entries()) {
                assertThat(map.put(entry.getKey(), entry.getValue())).isNull();
            }
            assertThat(map).isEqualTo(maps.getOrDefault(key, Collections.emptyMap()));
        }
        long keysWithValues = 0;
        for (KeyedSubtask subtask : subtasks) {
            keysWithValues += subtask.backend.getKeysAndNamespaces("value").count();
        }
        assertThat(keysWithValues).isEqualTo(values.size());
    }

    private static KeyedSubtask select(List<KeyedSubtask> subtasks, int key) {
        int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(key, KeyedSubtask.KEY_GROUPS);
        for (KeyedSubtask subtask : subtasks) {
            if (subtask.range.contains(keyGroup)) {
                subtask.backend.setCurrentKey(key);
                return subtask;
            }
        }
        throw new IllegalStateException("No subtask for key group " + keyGroup);
    }
}
