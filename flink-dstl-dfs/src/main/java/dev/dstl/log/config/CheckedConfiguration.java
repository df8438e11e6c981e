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

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;

/**
 * Reads and checks configured values. Every error names the key, the value, the allowed range and
 * the fix.
 */
public final class CheckedConfiguration {

    private static final Duration LONGEST = Duration.ofDays(1);

    private final Configuration configuration;

    /** Reads this configuration, not a copy of it. */
    public CheckedConfiguration(Configuration configuration) {
        this.configuration = configuration;
    }

    boolean isSet(ConfigOption<?> option) {
        return configuration.contains(option);
    }

    /**
     * Returns a value, or the default.
     *
     * @throws IllegalConfigurationException if the value is of another type
     */
    public <T> T get(ConfigOption<T> option) {
        try {
            return configuration.get(option);
        } catch (IllegalArgumentException e) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is '%s', which cannot be read: %s. Write it like the default,"
                                    + " %s.",
                            option.key(),
                            configuration.getValue(option),
                            causeOf(e),
                            print(option.defaultValue())),
                    e);
        }
    }

    Path directory(ConfigOption<String> option, String example) {
        String value = get(option);
        if (value == null || value.trim().isEmpty()) {
            throw new IllegalConfigurationException(
                    String.format(
                            "The changelog is switched on, but '%s' is not set: set it in the"
                                    + " configuration of the TaskManagers to a directory that"
                                    + " JobManager and TaskManagers can reach, for example %s.",
                            option.key(), example));
        }
        Path path;
        try {
            path = new Path(value.trim());
        } catch (IllegalArgumentException e) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is '%s', which is not a path: %s. Set it to a directory, for"
                                    + " example %s.",
                            option.key(), value, causeOf(e), example),
                    e);
        }
        if (path.toUri().getAuthority() == null && !path.isAbsolute()) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is '%s', a relative path: each process would look for it in a"
                                    + " directory of its own. Set it to an absolute one that"
                                    + " JobManager and TaskManagers can reach, for example %s.",
                            option.key(), value, example));
        }
        return path;
    }

    /**
     * Returns an integer in {@code [from, to]}.
     *
     * @throws IllegalConfigurationException if the value is none
     */
    public int count(ConfigOption<Integer> option, int from, int to) {
        int value = get(option);
        check(option, value, value >= from && value <= to, from, to);
        return value;
    }

    /** Returns a size in bytes in {@code [from, to]}. */
    long bytes(ConfigOption<MemorySize> option, long from, long to) {
        MemorySize value = get(option);
        check(
                option,
                value,
                value.getBytes() >= from && value.getBytes() <= to,
                new MemorySize(from),
                new MemorySize(to));
        return value.getBytes();
    }

    /**
     * Returns a duration in milliseconds, between {@code from} and one day, both inclusive. Less
     * than a millisecond is one: 0 means never for some keys.
     */
    long millis(ConfigOption<Duration> option, Duration from) {
        Duration value = get(option);
        check(
                option,
                value,
                value.compareTo(from) >= 0 && value.compareTo(LONGEST) <= 0,
                from,
                LONGEST);
        return value.isZero() ? 0 : Math.max(1, value.toMillis());
    }

    /** Returns a fraction in {@code [from, to]}. */
    double fraction(ConfigOption<Double> option, double from, double to) {
        double value = get(option);
        check(option, value, value >= from && value <= to, from, to);
        return value;
    }

    <E extends Enum<E>> E oneOf(
            ConfigOption<String> option, E[] allowed, Function<E, String> spelling) {
        String value = get(option);
        String wanted = value.trim().toLowerCase(Locale.ROOT);
        for (E candidate : allowed) {
            if (spelling.apply(candidate).equals(wanted)) {
                return candidate;
            }
        }
        throw new IllegalConfigurationException(
                String.format(
                        "'%s' is '%s', allowed is one of %s. Set it to one of these or remove it"
                                + " for the default, %s.",
                        option.key(),
                        value,
                        Arrays.stream(allowed).map(spelling).collect(Collectors.joining(", ")),
                        option.defaultValue()));
    }

    private static void check(
            ConfigOption<?> option, Object value, boolean inRange, Object from, Object to) {
        if (!inRange) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is %s, allowed is %s to %s. Set it to a value in that range or"
                                    + " remove it for the default, %s.",
                            option.key(),
                            print(value),
                            print(from),
                            print(to),
                            print(option.defaultValue())));
        }
    }

    private static String print(Object value) {
        if (value instanceof Duration) {
            Duration duration = (Duration) value;
            return duration.equals(LONGEST) ? "1 d" : duration.toMillis() + " ms";
        }
        if (new MemorySize(Long.MAX_VALUE).equals(value)) {
            return "any size";
        }
        return String.valueOf(value);
    }

    private static String causeOf(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage();
    }
}
