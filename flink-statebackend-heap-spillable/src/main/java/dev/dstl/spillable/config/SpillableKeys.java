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

package dev.dstl.spillable.config;

import java.lang.reflect.Field;
import java.util.Comparator;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.commons.text.similarity.LevenshteinDistance;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;

/** Finds misspelt keys below the prefix of {@link SpillableOptions}, which would have no effect. */
final class SpillableKeys {

    private SpillableKeys() {}

    /**
     * Looks for keys that nobody knows.
     *
     * @throws IllegalConfigurationException if there are any, naming all and what each was probably
     *     meant to be
     */
    static void check(ReadableConfig config) {
        SortedMap<String, String> unknown = new TreeMap<>(config.toMap());
        unknown.keySet().removeIf(key -> !key.startsWith(SpillableOptions.PREFIX));
        if (unknown.isEmpty()) {
            return;
        }
        SortedSet<String> known = known();
        unknown.keySet().removeAll(known);
        if (!unknown.isEmpty()) {
            throw new IllegalConfigurationException(
                    unknown.entrySet().stream()
                                    .map(
                                            entry ->
                                                    String.format(
                                                            "'%s' is set to '%s', but there is no such"
                                                                    + " key. Did you mean '%s'?",
                                                            entry.getKey(),
                                                            entry.getValue(),
                                                            nearest(entry.getKey(), known)))
                                    .collect(Collectors.joining(" "))
                            + " Correct it, or remove it.");
        }
    }

    private static SortedSet<String> known() {
        SortedSet<String> keys = new TreeSet<>();
        for (Field field : SpillableOptions.class.getFields()) {
            if (field.getType() == ConfigOption.class) {
                try {
                    keys.add(((ConfigOption<?>) field.get(null)).key());
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException("Cannot read " + field, e);
                }
            }
        }
        return keys;
    }

    private static String nearest(String misspelt, SortedSet<String> known) {
        LevenshteinDistance distance = LevenshteinDistance.getDefaultInstance();
        return known.stream()
                .min(Comparator.comparingInt(key -> distance.apply(key, misspelt)))
                .orElseThrow();
    }
}
