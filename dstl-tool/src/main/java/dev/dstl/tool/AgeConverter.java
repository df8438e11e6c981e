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

package dev.dstl.tool;

import java.time.Duration;
import java.util.regex.Pattern;
import org.apache.flink.util.TimeUtils;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses durations as Flink's configuration does, but requires a unit, since a number without one
 * would mean milliseconds.
 */
final class AgeConverter implements ITypeConverter<Duration> {

    private static final Duration LONGEST = Duration.ofMillis(Long.MAX_VALUE);
    private static final Pattern UNITLESS = Pattern.compile("\\s*[0-9]+\\s*");

    @Override
    public Duration convert(String text) {
        if (UNITLESS.matcher(text).matches()) {
            throw refusal(text);
        }
        try {
            Duration age = TimeUtils.parseDuration(text);
            if (age.compareTo(LONGEST) > 0) {
                throw refusal(text);
            }
            return age;
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw refusal(text);
        }
    }

    private static TypeConversionException refusal(String text) {
        return new TypeConversionException(
                String.format("expected a number and a unit, such as 30min, found '%s'", text));
    }
}
