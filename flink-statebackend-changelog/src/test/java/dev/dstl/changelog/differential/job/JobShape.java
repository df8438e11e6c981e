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
import java.util.List;

/** The properties that a job has in every generation. Immutable. */
public final class JobShape {

    /** Maximum parallelism. */
    public static final int KEY_GROUPS = 8;

    /** Number of keys of a job. */
    public static final int KEYS = 10;

    /** Number of namespaces of a job. */
    public static final int NAMESPACES = 3;

    /** The names of the timer queues. */
    public static final List<String> QUEUES = List.of("event time", "processing time");

    private final TypeFamily keys;
    private final TypeFamily namespaces;
    private final int operators;
    private final List<StateSpec> states;
    private final boolean registersAtOpen;
    private final boolean meetsClasses;

    /**
     * @param operators how many keyed operators are chained; each has all the states
     * @param registersAtOpen whether all states are registered at once, or each when it is used
     * @param meetsClasses whether serializers have met all classes before a checkpoint describes
     *     them
     */
    public JobShape(
            TypeFamily keys,
            TypeFamily namespaces,
            int operators,
            List<StateSpec> states,
            boolean registersAtOpen,
            boolean meetsClasses) {
        this.keys = keys;
        this.namespaces = namespaces;
        this.operators = operators;
        this.states = List.copyOf(states);
        this.registersAtOpen = registersAtOpen;
        this.meetsClasses = meetsClasses;
    }

    /** Returns the same job for delegates that look up state by serialized key. */
    public JobShape withKeysOfStableBytes() {
        return with(keys.ofStableBytes());
    }

    /** Returns the same job for delegates that compare serialized keys of one generation. */
    public JobShape withKeysOfEqualBytes() {
        return with(keys.ofEqualBytes());
    }

    private JobShape with(TypeFamily otherKeys) {
        return new JobShape(
                otherKeys, namespaces, operators, states, registersAtOpen, meetsClasses);
    }

    public TypeFamily keys() {
        return keys;
    }

    public TypeFamily namespaces() {
        return namespaces;
    }

    public int operators() {
        return operators;
    }

    public List<StateSpec> states() {
        return states;
    }

    /**
     * Whether all states are registered at once. Otherwise a state keeps its version until a
     * subtask uses it, and a checkpoint may hold several.
     */
    public boolean registersAtOpen() {
        return registersAtOpen;
    }

    /**
     * Whether serializers have met all classes before a checkpoint describes them, as those have
     * with which a job registers its classes.
     */
    public boolean meetsClasses() {
        return meetsClasses;
    }

    /** Whether keys, namespaces or values contain subclasses. */
    public boolean hasSubclasses() {
        return keys.hasSubclasses()
                || namespaces.hasSubclasses()
                || states.stream().anyMatch(StateSpec::hasSubclasses);
    }

    @Override
    public String toString() {
        return operators
                + " operator(s) keyed by "
                + keys
                + " with namespaces of "
                + namespaces
                + ", states "
                + states
                + (registersAtOpen ? " registered at open" : " registered when used")
                + (meetsClasses ? ", of known classes" : "");
    }
}
