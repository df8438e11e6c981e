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

package dev.dstl.changelog.replay;

import java.io.IOException;

/**
 * The operation of a state change that Flink's built-in changelog recorded, by its first byte.
 * After it:
 *
 * <pre>
 *   METADATA     see BuiltInRegistration
 *   of a queue   state id (2 bytes) |
 *     ADD_ELEMENT             count (4 bytes), elements
 *     REMOVE_ELEMENT          element
 *   of a state   state id (2 bytes) | key | namespace |
 *     CLEAR                   -
 *     SET, SET_INTERNAL       value, whole list, result or accumulator
 *     ADD                     list of what is added, map of what is put
 *     MERGE_NS                target namespace, count (4 bytes), source namespaces
 *     ADD_ELEMENT             list element
 *     ADD_OR_UPDATE_ELEMENT   map key, map value
 *     REMOVE_ELEMENT          map key
 * </pre>
 */
enum BuiltInOperation {
    CLEAR,
    SET,
    SET_INTERNAL,
    ADD,
    MERGE_NS,
    ADD_ELEMENT,
    ADD_OR_UPDATE_ELEMENT,
    REMOVE_ELEMENT,
    METADATA;

    private static final BuiltInOperation[] BY_CODE = values();

    static BuiltInOperation of(byte code) throws IOException {
        if (code < 0 || code >= BY_CODE.length) {
            throw new IOException("expected an operation from 0 to 8, found " + code);
        }
        return BY_CODE[code];
    }

    /** Returns whether a change that starts with this byte is a registration. */
    static boolean isMetadata(byte code) {
        return code >= 0 && code < BY_CODE.length && BY_CODE[code] == METADATA;
    }
}
