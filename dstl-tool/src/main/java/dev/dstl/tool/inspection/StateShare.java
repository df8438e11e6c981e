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

package dev.dstl.tool.inspection;

import java.util.List;

/** Number and size of the records of a state. Immutable, except for {@link #add}. */
final class StateShare {

    private final String owner;
    private final String name;
    private final String kind;
    private final Totals totals = new Totals();

    StateShare(String owner, String name, String kind, Totals totals) {
        this.owner = owner;
        this.name = name;
        this.kind = kind;
        this.totals.add(totals);
    }

    /** Returns the identity of a state, equal in all subtasks of an operator. */
    List<String> identity() {
        return List.of(owner, name, kind);
    }

    void add(StateShare same) {
        totals.add(same.totals);
    }

    String owner() {
        return owner;
    }

    String name() {
        return name;
    }

    /** Returns the kind of the state, empty if unknown. */
    String kind() {
        return kind;
    }

    long records() {
        return totals.records();
    }

    long bytes() {
        return totals.bytes();
    }
}
