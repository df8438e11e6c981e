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

package dev.dstl.log.config;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.commons.text.similarity.LevenshteinDistance;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.FallbackKey;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.StateChangelogOptions;

/**
 * All keys of all modules, and Flink's own for changelogs, below their common prefixes. Any other
 * key below these prefixes is probably misspelt and would be ignored silently. Immutable.
 */
public final class KnownKeys {

    /**
     * Flink's own changelog keys, and prefixes that are easily mistaken for those of DSTL, are
     * included.
     */
    private static final List<String> PREFIXES =
            List.of("state.changelog.", "state.backend.changelog.", "dstl.");

    private static final Pattern MISPLACED = Pattern.compile("state\\.(.*\\.)?dstl\\..*");

    private final SortedSet<String> keys = new TreeSet<>();

    private KnownKeys() {}

    /** Returns the keys of all modules on the class path. */
    public static KnownKeys ofAllModules() {
        KnownKeys known = new KnownKeys();
        known.add(StateChangelogOptions.class);
        ServiceLoader.load(OptionCatalog.class, KnownKeys.class.getClassLoader())
                .forEach(catalog -> known.add(catalog.options()));
        return known;
    }

    private void add(Class<?> options) {
        for (Field field : options.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == ConfigOption.class) {
                try {
                    add((ConfigOption<?>) field.get(null));
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException("Cannot read " + field, e);
                }
            }
        }
    }

    private void add(ConfigOption<?> option) {
        keys.add(option.key());
        for (FallbackKey key : option.fallbackKeys()) {
            keys.add(key.getKey());
        }
    }

    /**
     * Rejects unknown keys.
     *
     * @throws IllegalConfigurationException if there are any; the message names all of them and the
     *     key that each probably was meant to be
     */
    public void check(Configuration configuration) {
        SortedSet<String> unknown = new TreeSet<>(configuration.keySet());
        unknown.removeIf(key -> !isDstlKey(key) || keys.contains(key));
        if (!unknown.isEmpty()) {
            throw new IllegalConfigurationException(
                    unknown.stream()
                                    .map(
                                            key ->
                                                    String.format(
                                                            "'%s' is set to '%s', but there is no such"
                                                                    + " key. Did you mean '%s'?",
                                                            key,
                                                            configuration.getString(key, ""),
                                                            nearest(key)))
                                    .collect(Collectors.joining(" "))
                            + " Correct it, or remove it.");
        }
    }

    private static boolean isDstlKey(String key) {
        return PREFIXES.stream().anyMatch(key::startsWith) || MISPLACED.matcher(key).matches();
    }

    private String nearest(String misspelt) {
        // Not in a constant: a job without a misspelt key does not load this library.
        LevenshteinDistance distance = LevenshteinDistance.getDefaultInstance();
        return keys.stream()
                .filter(KnownKeys::isDstlKey)
                .min(Comparator.comparingInt(key -> distance.apply(key, misspelt)))
                .orElseThrow();
    }
}
