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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;

/**
 * Lists and maps in each form that the spillable heap has for them: in one entry, or with fragments
 * and buckets. Most are so long that they are sealed in files; later rounds change a little of
 * each.
 */
final class LargeStates {

    static final int FIRST_ROUND = 1;

    private static final int KEYS = 4;
    private static final int LIST_ELEMENTS = 300;

    /** As many bytes as there may be before a list has fragments, and more than fit in a byte. */
    private static final int EMPTY_ELEMENTS = 256;

    private static final int MAP_ENTRIES = 400;
    private static final int LONG_VALUES = 20;

    private final TestTask task;

    LargeStates(TestTask task) {
        this.task = task;
    }

    private ListState<String> list(int key) throws Exception {
        return task.state(key, new ListStateDescriptor<>("large list", String.class));
    }

    private ListState<String> emptyElements(int key) throws Exception {
        return task.state(key, new ListStateDescriptor<>("empty elements", String.class));
    }

    private MapState<String, String> map(int key) throws Exception {
        return task.state(key, new MapStateDescriptor<>("large map", String.class, String.class));
    }

    private MapState<String, String> longValues(int key) throws Exception {
        return task.state(key, new MapStateDescriptor<>("long values", String.class, String.class));
    }

    /** Fills the states in the first round, changes some of each in later ones. */
    void change(int round) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            if (round == FIRST_ROUND) {
                fill(key);
            } else {
                change(round, key);
            }
        }
    }

    private void fill(int key) throws Exception {
        for (int i = 0; i < LIST_ELEMENTS; i++) {
            list(key).add("element " + i + " of key " + key + "-".repeat(50));
        }
        for (int i = 0; i < EMPTY_ELEMENTS; i++) {
            emptyElements(key).add("");
        }
        for (int i = 0; i < MAP_ENTRIES; i++) {
            String value = "value " + i + " of key " + key + "-".repeat(20);
            map(key).put("user key " + i, i % 50 == 0 ? null : value);
        }
        for (int i = 0; i < LONG_VALUES; i++) {
            longValues(key).put("user key " + i, (i + "-").repeat(200));
        }
    }

    private void change(int round, int key) throws Exception {
        String text = round + "/" + key;
        list(key).add(text);
        if (key % 2 == 0) {
            emptyElements(key).add(text);
        }
        map(key).put("user key " + round, text);
        map(key).put("user key of round " + round, null);
        map(key).remove("user key " + (100 + round));
        longValues(key).put("user key " + round, text);
        longValues(key).remove("user key " + (10 + round));
    }

    /** Returns the contents of all states. */
    Map<String, Object> contents() throws Exception {
        Map<String, Object> contents = new TreeMap<>();
        for (int key = 0; key < KEYS; key++) {
            contents.put("large list of " + key, listed(list(key)));
            contents.put("empty elements of " + key, listed(emptyElements(key)));
            contents.put("large map of " + key, mapped(map(key)));
            contents.put("long values of " + key, mapped(longValues(key)));
        }
        return contents;
    }

    private static List<String> listed(ListState<String> state) throws Exception {
        List<String> list = new ArrayList<>();
        state.get().forEach(list::add);
        return list;
    }

    private static Map<String, String> mapped(MapState<String, String> state) throws Exception {
        Map<String, String> map = new TreeMap<>();
        for (Map.Entry<String, String> entry : state.entries()) {
            map.put(entry.getKey(), entry.getValue());
        }
        return map;
    }
}
