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

package dev.dstl.changelog.differential.world;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;

/**
 * Number of occurrences of each condition: of each {@link Coverage}, and of each constant of
 * another enumeration that a job is to have.
 */
public final class Conditions {

    private final Map<Enum<?>, Long> counts = emptyCounts();

    /** Returns an empty map that is sorted by enumeration. */
    public static Map<Enum<?>, Long> emptyCounts() {
        return new TreeMap<>(
                Comparator.<Enum<?>, String>comparing(what -> what.getDeclaringClass().getName())
                        .thenComparing(Enum::ordinal));
    }

    public void met(Enum<?> what) {
        counts.merge(what, 1L, Long::sum);
    }

    public void metIf(boolean condition, Enum<?> what) {
        if (condition) {
            met(what);
        }
    }

    public Map<Enum<?>, Long> counts() {
        return counts;
    }
}
