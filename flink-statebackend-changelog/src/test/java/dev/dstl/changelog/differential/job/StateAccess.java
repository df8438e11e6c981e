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

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.common.state.AppendingState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.state.internal.InternalAppendingState;

/** Operations of a user function on a state of one kind. */
final class StateAccess {

    /** Content of a state that was never written. */
    static final String NOTHING = "nothing";

    /** Number of keys in a map. */
    private static final int USER_KEYS = 6;

    private final StateSpec spec;
    private final int generation;
    private final State state;

    /** A job may update all keys with one list. */
    private final List<Object> reused = new ArrayList<>();

    private StateAccess(StateSpec spec, int generation, State state) {
        this.spec = spec;
        this.generation = generation;
        this.state = state;
    }

    static StateAccess of(StateSpec spec, int generation, State state) {
        return new StateAccess(spec, generation, state);
    }

    State state() {
        return state;
    }

    @SuppressWarnings("unchecked") // The state is of its kind.
    String apply(Operation operation, int number) throws Exception {
        if (operation == Operation.CLEAR) {
            state.clear();
            return "";
        }
        switch (spec.kind()) {
            case VALUE:
                return value((ValueState<Object>) state, operation, number);
            case LIST:
                return list((ListState<Object>) state, operation, number);
            case MAP:
                return map((MapState<Object, Object>) state, operation, number);
            default:
                return appending((AppendingState<Object, Object>) state, operation, number);
        }
    }

    /** Copies the state of the current key, which must exist. */
    @SuppressWarnings("unchecked") // The states are of the same kind.
    void copyTo(StateAccess empty) throws Exception {
        switch (spec.kind()) {
            case VALUE:
                ((ValueState<Object>) empty.state).update(((ValueState<Object>) state).value());
                break;
            case LIST:
                for (Object element : ((ListState<Object>) state).get()) {
                    ((ListState<Object>) empty.state).add(element);
                }
                break;
            case MAP:
                for (Map.Entry<Object, Object> entry :
                        ((MapState<Object, Object>) state).entries()) {
                    ((MapState<Object, Object>) empty.state).put(entry.getKey(), entry.getValue());
                }
                break;
            default:
                ((InternalAppendingState<?, ?, ?, Object, ?>) empty.state)
                        .updateInternal(
                                ((InternalAppendingState<?, ?, ?, Object, ?>) state).getInternal());
        }
    }

    private Object value(int number) {
        return spec.values().value(generation, number);
    }

    private Object written(Operation operation, int number) {
        return operation == Operation.WRITE_BAD && spec.values().canFail()
                ? spec.values().badValue(number)
                : value(number);
    }

    private Object userKey(int number) {
        return spec.userKeys().value(generation, number % USER_KEYS);
    }

    private String text(Object value) {
        return value == null ? NOTHING : spec.values().text(generation, value);
    }

    private String value(ValueState<Object> value, Operation operation, int number)
            throws Exception {
        switch (operation) {
            case READ:
            case ITERATE:
                return text(value.value());
            case REMOVE:
                value.update(null);
                return "";
            default:
                value.update(written(operation, number));
                return "";
        }
    }

    private String list(ListState<Object> list, Operation operation, int number) throws Exception {
        switch (operation) {
            case READ:
            case ITERATE:
            case REMOVE:
                return textOf(list.get());
            case WRITE_MANY:
                list.addAll(List.of(value(number), value(number + 1), value(number + 2)));
                return "";
            case REPLACE:
                reused.clear();
                if (number % 4 != 0) {
                    reused.add(value(number));
                }
                list.update(reused);
                return "";
            case WRITE_HALF:
                if (number % 2 == 0) {
                    // Flink's list on the heap keeps what comes before a null, ours nothing.
                    list.addAll(Arrays.asList(null, value(number)));
                } else {
                    list.update(Arrays.asList(value(number), null));
                }
                return "";
            case WRITE_BAD:
                list.addAll(List.of(value(number), written(operation, number)));
                return "";
            default:
                list.add(value(number));
                return "";
        }
    }

    private String textOf(Iterable<Object> elements) {
        List<String> texts = new ArrayList<>();
        if (elements != null) {
            elements.forEach(element -> texts.add(text(element)));
        }
        return texts.isEmpty() ? NOTHING : texts.toString();
    }

    private String map(MapState<Object, Object> map, Operation operation, int number)
            throws Exception {
        Object key = userKey(number);
        switch (operation) {
            case READ:
                return textOf(map);
            case REMOVE:
                map.remove(key);
                return text(map.get(key));
            case WRITE_MANY:
                map.putAll(
                        Map.of(
                                userKey(0), value(number),
                                userKey(1), value(number + 1),
                                userKey(2), value(number + 2)));
                return String.valueOf(map.contains(key));
            case WRITE_HALF:
                map.putAll(new HalfMap(userKey(0), value(number), userKey(1)));
                return "";
            case WRITE_BAD:
                map.putAll(
                        new HalfMap(userKey(0), value(number), userKey(1))
                                .endingWith(written(operation, number)));
                return "";
            case ITERATE:
                return iterate(map, number);
            default:
                map.put(key, value(number));
                return "";
        }
    }

    /** Sets some entries and removes others while iterating. */
    private String iterate(MapState<Object, Object> map, int number) throws Exception {
        Iterator<Map.Entry<Object, Object>> entries = map.iterator();
        List<String> seen = new ArrayList<>();
        while (entries.hasNext()) {
            Map.Entry<Object, Object> entry = entries.next();
            seen.add(String.valueOf(entry.getKey()));
            int choice = (entry.getKey().toString().hashCode() & 0xff) + number;
            if (choice % 3 == 0) {
                entries.remove();
            } else if (choice % 3 == 1) {
                entry.setValue(value(number));
            }
        }
        seen.sort(null);
        return seen.toString();
    }

    private String textOf(MapState<Object, Object> map) throws Exception {
        Map<String, String> texts = new TreeMap<>();
        for (Map.Entry<Object, Object> entry : map.entries()) {
            texts.put(String.valueOf(entry.getKey()), text(entry.getValue()));
        }
        return texts.isEmpty() ? NOTHING : texts.toString();
    }

    private String appending(
            AppendingState<Object, Object> appending, Operation operation, int number)
            throws Exception {
        switch (operation) {
            case READ:
            case ITERATE:
            case REMOVE:
                return textOfResult(appending.get());
            case WRITE_HALF:
                UserFault.after(0);
                try {
                    appending.add(value(number));
                } finally {
                    UserFault.never();
                }
                return "";
            default:
                appending.add(written(operation, number));
                return "";
        }
    }

    /** Returns a result as text; that of an aggregation already is. */
    private String textOfResult(Object result) {
        return result instanceof String ? (String) result : text(result);
    }

    /** A map that fails at its second entry, or ends there with a given value. */
    private static final class HalfMap extends AbstractMap<Object, Object> {

        private final Object first;
        private final Object value;
        private final Object second;
        private Object last;

        HalfMap(Object first, Object value, Object second) {
            this.first = first;
            this.value = value;
            this.second = second;
        }

        HalfMap endingWith(Object newLast) {
            last = newLast;
            return this;
        }

        @Override
        public Set<Entry<Object, Object>> entrySet() {
            return new AbstractSet<>() {
                @Override
                public Iterator<Entry<Object, Object>> iterator() {
                    return new Iterator<>() {
                        private int next;

                        @Override
                        public boolean hasNext() {
                            return next < 2;
                        }

                        @Override
                        public Entry<Object, Object> next() {
                            if (next++ == 0) {
                                return new SimpleEntry<>(first, value);
                            }
                            if (last == null) {
                                throw new UserFault.Thrown();
                            }
                            return new SimpleEntry<>(second, last);
                        }
                    };
                }

                @Override
                public int size() {
                    return 2;
                }
            };
        }
    }
}
