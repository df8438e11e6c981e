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

import org.apache.flink.api.common.state.StateDescriptor;

/** The kind of a state. The codes are part of the record format and never change. */
public enum StateKind {
    /** One value per key and namespace. */
    VALUE(1),
    /** A list per key and namespace. */
    LIST(2),
    /** A map per key and namespace. */
    MAP(3),
    /** One value per key and namespace, made by a reduce function. */
    REDUCING(4),
    /** One accumulator per key and namespace, made by an aggregate function. */
    AGGREGATING(5),
    /** A set of timers. */
    QUEUE(6);

    private final byte code;

    StateKind(int code) {
        this.code = (byte) code;
    }

    byte code() {
        return code;
    }

    static StateKind of(byte code) {
        for (StateKind kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new IllegalArgumentException("Unknown state kind " + code + ", expected 1 to 6");
    }

    /**
     * Returns the kind of a keyed state.
     *
     * @throws IllegalArgumentException if the changelog state backend does not support the type
     */
    public static StateKind of(StateDescriptor.Type type) {
        switch (type) {
            case VALUE:
                return VALUE;
            case LIST:
                return LIST;
            case MAP:
                return MAP;
            case REDUCING:
                return REDUCING;
            case AGGREGATING:
                return AGGREGATING;
            default:
                throw new IllegalArgumentException(
                        "The changelog backend does not support state of type "
                                + type
                                + ". Use value, list, map, reducing or aggregating state, or switch"
                                + " state.changelog.enabled off.");
        }
    }
}
