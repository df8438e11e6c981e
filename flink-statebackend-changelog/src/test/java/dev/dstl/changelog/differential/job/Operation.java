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

/** An operation on a state, whose meaning depends on the kind of the state. */
public enum Operation {
    READ,
    WRITE,
    WRITE_MANY,
    REPLACE,
    REMOVE,
    CLEAR,
    ITERATE,
    MERGE,
    /** A user function or an iterator throws halfway. */
    WRITE_HALF,
    /** The function throws after some namespaces have been merged. */
    MERGE_HALF,
    /** The serializer throws halfway. */
    WRITE_BAD,
    ADD_TIMER,
    REMOVE_TIMER;

    private static final Operation[] USUAL = {
        READ,
        WRITE_MANY,
        REPLACE,
        REMOVE,
        CLEAR,
        ITERATE,
        MERGE,
        ADD_TIMER,
        ADD_TIMER,
        ADD_TIMER,
        REMOVE_TIMER
    };

    /** Returns the operation for any number; failing ones are rare. */
    public static Operation of(int number) {
        int choice = number % 100;
        if (choice < 30) {
            return WRITE;
        }
        if (choice < 32) {
            return WRITE_HALF;
        }
        if (choice < 34) {
            return WRITE_BAD;
        }
        if (choice == 34) {
            return MERGE_HALF;
        }
        return USUAL[choice % USUAL.length];
    }
}
