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
import java.util.Map;
import org.apache.flink.runtime.state.ttl.TtlValue;

/** The properties that a state of a job has in every generation. Immutable. */
public final class StateSpec {

    private final String name;
    private final StateKind kind;
    private final TypeFamily values;
    private final TypeFamily userKeys;
    private final boolean expires;

    public StateSpec(
            String name, StateKind kind, TypeFamily values, TypeFamily userKeys, boolean expires) {
        this.name = name;
        this.kind = kind;
        this.values = values;
        this.userKeys = userKeys;
        this.expires = expires;
    }

    public String name() {
        return name;
    }

    public StateKind kind() {
        return kind;
    }

    /** The type of values, elements and accumulators. */
    public TypeFamily values() {
        return values;
    }

    /** The type of the keys of a map. */
    public TypeFamily userKeys() {
        return userKeys;
    }

    /** Whether it has a time to live. */
    public boolean expires() {
        return expires;
    }

    /** Whether there are subclasses in its values or keys. */
    public boolean hasSubclasses() {
        return values.hasSubclasses() || (kind == StateKind.MAP && userKeys.hasSubclasses());
    }

    /** Returns the state of a key for a number, as its serializer takes it. */
    Object sample(int generation, int number) {
        Object value = values.value(generation, number);
        Object stored = expires ? new TtlValue<>(value, 0) : value;
        switch (kind) {
            case LIST:
                return List.of(stored);
            case MAP:
                return Map.of(userKeys.value(generation, number), stored);
            default:
                return stored;
        }
    }

    @Override
    public String toString() {
        return kind
                + (kind == StateKind.MAP
                        ? "<" + userKeys + ", " + values + ">"
                        : "<" + values + ">")
                + (expires ? " with TTL" : "");
    }
}
