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

package dev.dstl.changelog.record;

import java.util.Objects;

/** The name and the kind of a state. Immutable. */
public final class RegisteredName {

    private final StateKind kind;
    private final String name;

    RegisteredName(StateKind kind, String name) {
        this.kind = kind;
        this.name = name;
    }

    /** Returns the kind of the state. */
    public StateKind kind() {
        return kind;
    }

    /** Returns the name of the state. */
    public String name() {
        return name;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RegisteredName
                && kind == ((RegisteredName) other).kind
                && name.equals(((RegisteredName) other).name);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, name);
    }

    @Override
    public String toString() {
        return name + " (" + kind + ")";
    }
}
