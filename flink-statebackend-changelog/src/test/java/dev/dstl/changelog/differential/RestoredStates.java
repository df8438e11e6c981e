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

package dev.dstl.changelog.differential;

import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.job.Operation;
import dev.dstl.changelog.differential.job.StateKind;
import dev.dstl.changelog.differential.job.StateSpec;
import dev.dstl.changelog.differential.schema.JobClasses;
import dev.dstl.changelog.differential.schema.TypeFamily;
import dev.dstl.changelog.differential.world.Conditions;
import dev.dstl.changelog.differential.world.Coverage;
import dev.dstl.changelog.differential.world.Deployment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * Follows in which generation DSTL's job has each state, and finds out which conditions the states
 * meet that it has restored. Not thread-safe.
 */
final class RestoredStates {

    private static final Pattern NAME_OF_VALUE = Pattern.compile("(state \\d+)/(\\d+)/(\\d+)");
    private static final Pattern SUBCLASSED = Pattern.compile("Account|Special");
    private static final int NEVER = -1;

    private final JobShape shape;
    private final Conditions conditions;

    /** In which generation a state was last registered, by operator and state, and key group. */
    private Map<String, int[]> generations = new HashMap<>();

    private final Map<Long, Taken> checkpoints = new HashMap<>();

    /** Number of changes by operator, state, key and namespace. */
    private final Map<String, Integer> changes = new HashMap<>();

    RestoredStates(JobShape shape, Conditions conditions) {
        this.shape = shape;
        this.conditions = conditions;
    }

    /** Notes that an operation on a state succeeded. */
    void operated(Operation operation, int operator, int state, int key, int namespace) {
        if (operation != Operation.READ) {
            changes.merge(place(operator, state, key, namespace), 1, Integer::sum);
        }
    }

    private static String place(int operator, int state, int key, int namespace) {
        return operator + "/" + state + "/" + key + "/" + namespace;
    }

    /** Notes a checkpoint or savepoint of DSTL's job. */
    void taken(long id, Deployment deployment, List<List<KeyedOperator>> subtasks) {
        for (List<KeyedOperator> operators : subtasks) {
            for (int operator = 0; operator < operators.size(); operator++) {
                KeyGroupRange range = operators.get(operator).backend().getKeyGroupRange();
                for (int state : operators.get(operator).registered()) {
                    Arrays.fill(
                            generationsOf(operator, state),
                            range.getStartKeyGroup(),
                            range.getEndKeyGroup() + 1,
                            deployment.generation());
                }
            }
        }
        Map<String, int[]> copy = new HashMap<>();
        generations.forEach((state, byKeyGroup) -> copy.put(state, byKeyGroup.clone()));
        checkpoints.put(id, new Taken(deployment.parallelism(), copy));
    }

    private int[] generationsOf(int operator, int state) {
        return generations.computeIfAbsent(
                operator + "/" + state,
                none -> {
                    int[] byKeyGroup = new int[JobShape.KEY_GROUPS];
                    Arrays.fill(byKeyGroup, NEVER);
                    return byKeyGroup;
                });
    }

    /** Notes that the job starts without state. */
    void startedAnew() {
        generations = new HashMap<>();
    }

    /**
     * Notes that the job was restored.
     *
     * @param contents what it has by subtask and operator, with all that has expired
     */
    void restored(long id, Deployment deployment, List<List<Map<String, String>>> contents) {
        Taken taken = checkpoints.get(id);
        generations = new HashMap<>();
        taken.generations.forEach(
                (state, byKeyGroup) -> generations.put(state, byKeyGroup.clone()));
        if (!deployment.changelog()) {
            return;
        }
        for (List<Map<String, String>> operators : contents) {
            for (int operator = 0; operator < operators.size(); operator++) {
                List<Value> values = values(deployment, operator, operators.get(operator));
                values.forEach(value -> meet(value, deployment));
                for (int state = 0; state < shape.states().size(); state++) {
                    int number = state;
                    meet(
                            shape.states().get(state),
                            taken,
                            values.stream()
                                    .filter(value -> value.state == number)
                                    .collect(Collectors.toList()));
                }
            }
        }
    }

    private List<Value> values(Deployment deployment, int operator, Map<String, String> contents) {
        List<Value> values = new ArrayList<>();
        contents.forEach(
                (name, text) -> {
                    Matcher parts = NAME_OF_VALUE.matcher(name);
                    if (parts.matches()) {
                        int state = stateOf(parts.group(1));
                        int key = Integer.parseInt(parts.group(2));
                        int keyGroup = KeyedOperator.keyGroup(shape, deployment.generation(), key);
                        values.add(
                                new Value(
                                        state,
                                        keyGroup,
                                        generationsOf(operator, state)[keyGroup],
                                        changes.getOrDefault(
                                                place(
                                                        operator,
                                                        state,
                                                        key,
                                                        Integer.parseInt(parts.group(3))),
                                                0),
                                        text));
                    }
                });
        return values;
    }

    private int stateOf(String name) {
        for (int state = 0; state < shape.states().size(); state++) {
            if (shape.states().get(state).name().equals(name)) {
                return state;
            }
        }
        throw new IllegalArgumentException(name);
    }

    private void meet(Value value, Deployment deployment) {
        StateSpec spec = shape.states().get(value.state);
        conditions.met(deployment.storage());
        conditions.met(shape.keys());
        conditions.met(shape.namespaces());
        conditions.met(spec.values());
        if (spec.kind() == StateKind.MAP) {
            conditions.met(spec.userKeys());
        }
        conditions.metIf(
                shape.keys() == TypeFamily.ENTITY && value.changes > 1,
                Coverage.EQUAL_KEYS_WITH_OTHER_BYTES);
        conditions.metIf(
                (spec.values() == TypeFamily.ENUM || spec.values() == TypeFamily.TUPLE)
                        && JobClasses.reordersConstants(value.generation, deployment.generation()),
                Coverage.REORDERED_CONSTANTS_RESTORED);
    }

    /**
     * Looks at what one operator of one subtask has restored of a state.
     *
     * @param values of the state
     */
    private void meet(StateSpec spec, Taken taken, List<Value> values) {
        if (spec.values().changes()) {
            long versions = values.stream().map(value -> value.generation).distinct().count();
            conditions.metIf(versions > 1, Coverage.SEVERAL_VERSIONS_RESTORED);
        }
        if (spec.hasSubclasses() && !shape.meetsClasses()) {
            Map<Integer, Set<String>> classes = new HashMap<>();
            for (Value value : values) {
                int writer =
                        KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                                JobShape.KEY_GROUPS, taken.parallelism, value.keyGroup);
                Matcher name = SUBCLASSED.matcher(value.text);
                while (name.find()) {
                    classes.computeIfAbsent(writer, none -> new HashSet<>()).add(name.group());
                }
            }
            conditions.metIf(
                    new HashSet<>(classes.values()).size() > 1,
                    Coverage.SUBTASKS_WITH_DIFFERENT_CLASSES);
        }
    }

    /** A checkpoint. */
    private static final class Taken {

        private final int parallelism;
        private final Map<String, int[]> generations;

        Taken(int parallelism, Map<String, int[]> generations) {
            this.parallelism = parallelism;
            this.generations = generations;
        }
    }

    /** What a state has of a key and a namespace. */
    private static final class Value {

        private final int state;
        private final int keyGroup;
        private final int generation;
        private final int changes;
        private final String text;

        Value(int state, int keyGroup, int generation, int changes, String text) {
            this.state = state;
            this.keyGroup = keyGroup;
            this.generation = generation;
            this.changes = changes;
            this.text = text;
        }
    }
}
