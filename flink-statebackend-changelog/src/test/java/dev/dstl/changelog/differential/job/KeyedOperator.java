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

import dev.dstl.changelog.differential.schema.TypeFamily;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;

/**
 * One keyed operator of one subtask: performs operations on its states and timers, and reads their
 * content. Registers a state when it is first used. Owns its backend. Not thread-safe.
 */
public final class KeyedOperator implements AutoCloseable {

    /** The values of this many numbers, from 0 on, cover all classes of a type. */
    private static final int CLASSES = 2;

    private final CheckpointableKeyedStateBackend<Object> backend;
    private final JobShape shape;
    private final int generation;
    private final List<StateDescriptor<?, ?>> descriptors = new ArrayList<>();
    private final TypeSerializer<Object> namespaces;
    private final Set<Integer> registered = new TreeSet<>();
    private final Map<
                    String, KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>>>
            queues = new HashMap<>();

    public KeyedOperator(
            CheckpointableKeyedStateBackend<Object> backend, JobShape shape, int generation) {
        this.backend = backend;
        this.shape = shape;
        this.generation = generation;
        this.namespaces = shape.namespaces().serializer(generation);
        shape.states().forEach(spec -> descriptors.add(Descriptors.of(spec, generation)));
    }

    public CheckpointableKeyedStateBackend<Object> backend() {
        return backend;
    }

    /** The numbers of the states that were registered. */
    public Set<Integer> registered() {
        return registered;
    }

    /** The key group of the key with a number. */
    public static int keyGroup(JobShape shape, int generation, int key) {
        return KeyGroupRangeAssignment.assignToKeyGroup(
                shape.keys().value(generation, key), JobShape.KEY_GROUPS);
    }

    private boolean owns(int key) {
        return backend.getKeyGroupRange().contains(keyGroup(shape, generation, key));
    }

    private Object namespace(int number) {
        return shape.namespaces().value(generation, number);
    }

    /**
     * Does something as a user function does it.
     *
     * @return what the function got
     * @throws Exception which the user function catches
     */
    public String apply(Operation operation, int state, int key, int namespace, int number)
            throws Exception {
        backend.setCurrentKey(shape.keys().value(generation, key));
        if (operation == Operation.ADD_TIMER || operation == Operation.REMOVE_TIMER) {
            return changeTimer(
                    operation,
                    queue(JobShape.QUEUES.get(state % JobShape.QUEUES.size())),
                    namespace,
                    number);
        }
        StateAccess access = access(state, namespace(namespace));
        if (operation == Operation.MERGE || operation == Operation.MERGE_HALF) {
            return merge(access.state(), operation, namespace);
        }
        return access.apply(operation, number);
    }

    /** Often does it again at once, as windows do, and often at a time that others have as well. */
    private String changeTimer(
            Operation operation,
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> queue,
            int namespace,
            int number) {
        long time = number % 2 == 0 ? number / 200 * 200 : number;
        boolean repeats = number % 3 == 0;
        for (int times = repeats ? 2 : 1; times > 0; times--) {
            TimerHeapInternalTimer<Object, Object> timer =
                    new TimerHeapInternalTimer<>(
                            time, backend.getCurrentKey(), namespace(namespace));
            if (operation == Operation.ADD_TIMER) {
                queue.add(timer);
            } else {
                queue.remove(timer);
            }
        }
        return repeats ? "repeated" : "";
    }

    @SuppressWarnings("unchecked") // Every state of a keyed backend is internal.
    private String merge(State state, Operation operation, int target) throws Exception {
        if (!(state instanceof InternalMergingState)) {
            return "no merge";
        }
        List<Object> sources = new ArrayList<>();
        for (int namespace = 0; namespace < JobShape.NAMESPACES; namespace++) {
            if (namespace != target) {
                sources.add(namespace(namespace));
            }
        }
        if (operation == Operation.MERGE_HALF) {
            UserFault.after(1);
        }
        try {
            ((InternalMergingState<Object, Object, ?, ?, ?>) state)
                    .mergeNamespaces(namespace(target), sources);
        } finally {
            UserFault.never();
        }
        return "merged";
    }

    private StateAccess access(int state, Object namespace) throws Exception {
        registered.add(state);
        return StateAccess.of(
                shape.states().get(state),
                generation,
                backend.getPartitionedState(namespace, namespaces, descriptor(state)));
    }

    @SuppressWarnings("unchecked") // Nobody looks at the type of the state here.
    private StateDescriptor<State, Object> descriptor(int state) {
        return (StateDescriptor<State, Object>) descriptors.get(state);
    }

    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> queue(
            String name) {
        return queues.computeIfAbsent(
                name,
                missing ->
                        backend.create(
                                missing,
                                new TimerSerializer<>(backend.getKeySerializer(), namespaces)));
    }

    /** Registers all states and timers, like a job that does so in {@code open()}. */
    public void registerAll() throws Exception {
        for (int state = 0; state < shape.states().size(); state++) {
            access(state, namespace(0));
        }
        JobShape.QUEUES.forEach(this::queue);
    }

    /** Fires all timers up to a time; returns them, sorted. */
    public List<String> fire(int queue, long upTo) {
        List<String> fired = new ArrayList<>();
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> timers =
                queue(JobShape.QUEUES.get(queue));
        long last = Long.MIN_VALUE;
        for (TimerHeapInternalTimer<Object, Object> timer = timers.peek();
                timer != null && timer.getTimestamp() <= upTo;
                timer = timers.peek()) {
            backend.setCurrentKey(timer.getKey());
            timers.poll();
            if (timer.getTimestamp() % 2 == 0) {
                timers.remove(timer);
            }
            fired.add((timer.getTimestamp() < last ? "too late: " : "") + text(timer));
            last = timer.getTimestamp();
        }
        fired.sort(null);
        return fired;
    }

    private static String text(TimerHeapInternalTimer<Object, Object> timer) {
        return timer.getTimestamp() + " " + timer.getKey() + " " + timer.getNamespace();
    }

    /**
     * All that is in some states. Call it for timers only after a restore: RocksDB's iterator does
     * not show all that changed since.
     *
     * @param states bit by bit, the queues after the states
     */
    public Map<String, String> contents(int states) throws Exception {
        Map<String, String> contents = new TreeMap<>();
        for (int state = 0; state < shape.states().size(); state++) {
            if (((states >> state) & 1) != 0) {
                addState(contents, state);
            }
        }
        for (int queue = 0; queue < JobShape.QUEUES.size(); queue++) {
            if (((states >> (shape.states().size() + queue)) & 1) != 0) {
                addTimers(contents, JobShape.QUEUES.get(queue));
            }
        }
        return contents;
    }

    private void addState(Map<String, String> contents, int state) throws Exception {
        StateSpec spec = shape.states().get(state);
        String name = spec.name();
        for (int namespace = 0; namespace < JobShape.NAMESPACES; namespace++) {
            Set<String> missing = new TreeSet<>();
            for (int key = 0; key < JobShape.KEYS; key++) {
                if (owns(key)) {
                    backend.setCurrentKey(shape.keys().value(generation, key));
                    String text = access(state, namespace(namespace)).apply(Operation.READ, 0);
                    if (!text.equals(StateAccess.NOTHING)) {
                        contents.put(name + "/" + key + "/" + namespace, text);
                        missing.add(backend.getCurrentKey().toString());
                    }
                }
            }
            try (Stream<Object> keys = backend.getKeys(name, namespace(namespace))) {
                keys.map(Object::toString).forEach(missing::remove);
            }
            if (!missing.isEmpty()) {
                contents.put("not listed of " + name + "/" + namespace, missing.toString());
            }
        }
    }

    /**
     * The keys that the backend lists for states without a time to live, by state and namespace. A
     * key may be listed though nothing is there: a map on the heap whose entries an iterator
     * removed stays.
     *
     * @param states bit by bit
     */
    public Map<String, List<String>> listed(int states) {
        Map<String, List<String>> listed = new TreeMap<>();
        for (int state = 0; state < shape.states().size(); state++) {
            StateSpec spec = shape.states().get(state);
            if (((states >> state) & 1) != 0 && !spec.expires()) {
                for (int namespace = 0; namespace < JobShape.NAMESPACES; namespace++) {
                    try (Stream<Object> keys = backend.getKeys(spec.name(), namespace(namespace))) {
                        listed.put(
                                spec.name() + "/" + namespace,
                                keys.map(Object::toString).sorted().collect(Collectors.toList()));
                    }
                }
            }
        }
        return listed;
    }

    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    private void addTimers(Map<String, String> contents, String queue) throws Exception {
        Collection<String> timers = new ArrayList<>();
        try (CloseableIterator<TimerHeapInternalTimer<Object, Object>> all =
                queue(queue).iterator()) {
            all.forEachRemaining(timer -> timers.add(text(timer)));
        }
        timers.stream().sorted().forEach(timer -> contents.put(queue + " " + timer, ""));
    }

    /**
     * Copies all that is in the states into an operator that has none, which knows no state of
     * which nothing is there. Call it only after a restore.
     */
    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    public void copyTo(KeyedOperator empty) throws Exception {
        for (int state = 0; state < shape.states().size(); state++) {
            for (int key = 0; key < JobShape.KEYS; key++) {
                for (int namespace = 0; owns(key) && namespace < JobShape.NAMESPACES; namespace++) {
                    copyTo(empty, state, key, namespace(namespace));
                }
            }
        }
        for (String queue : JobShape.QUEUES) {
            try (CloseableIterator<TimerHeapInternalTimer<Object, Object>> all =
                    queue(queue).iterator()) {
                all.forEachRemaining(timer -> empty.queue(queue).add(timer));
            }
        }
    }

    private void copyTo(KeyedOperator empty, int state, int key, Object namespace)
            throws Exception {
        backend.setCurrentKey(shape.keys().value(generation, key));
        StateAccess access = access(state, namespace);
        if (!access.apply(Operation.READ, 0).equals(StateAccess.NOTHING)) {
            empty.backend.setCurrentKey(backend.getCurrentKey());
            StateAccess copy = empty.access(state, namespace);
            access.copyTo(copy);
        }
    }

    /**
     * Makes the serializers of all that is registered meet all classes that can be in it. A
     * checkpoint describes only classes that its serializer has met, on the heap before it writes
     * the first entry; and a task that restores what several tasks wrote believes the description
     * of the first of them. Flink then misreads the checkpoint once a class has changed.
     */
    public void meetClasses() throws Exception {
        meetClasses(backend.getKeySerializer(), shape.keys());
        meetClasses(namespaces, shape.namespaces());
        for (int state : registered) {
            StateSpec spec = shape.states().get(state);
            if (spec.hasSubclasses()) {
                TypeSerializer<Object> values =
                        storedValues(spec, access(state, namespace(0)).state());
                for (int number = 0; number < CLASSES; number++) {
                    values.serialize(spec.sample(generation, number), new DataOutputSerializer(64));
                }
            }
        }
    }

    /** Returns the serializer that a checkpoint describes. */
    @SuppressWarnings("unchecked") // Every state of a keyed backend is internal.
    private static TypeSerializer<Object> storedValues(StateSpec spec, State state)
            throws ReflectiveOperationException {
        Object stored = state;
        if (spec.expires()) {
            // AbstractTtlDecorator, which is not public.
            Class<?> decorator = state.getClass().getSuperclass().getSuperclass();
            Field decorated = decorator.getDeclaredField("original");
            decorated.setAccessible(true);
            stored = decorated.get(state);
        }
        return ((InternalKvState<Object, Object, Object>) stored).getValueSerializer();
    }

    private void meetClasses(TypeSerializer<Object> serializer, TypeFamily family)
            throws IOException {
        for (int number = 0; number < CLASSES; number++) {
            serializer.serialize(family.value(generation, number), new DataOutputSerializer(64));
        }
    }

    @Override
    public void close() throws IOException {
        backend.close();
        backend.dispose();
    }
}
