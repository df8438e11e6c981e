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

package dev.dstl.benchmarks.state;

import java.util.Locale;
import java.util.Objects;

/** A row of the result table. Immutable. */
final class StateMeasure {

    private static final String SEPARATOR = ";";

    private final String subject;
    private final Delegate delegate;
    private final String unit;

    StateMeasure(String subject, Delegate delegate, String unit) {
        this.subject = subject;
        this.delegate = delegate;
        this.unit = unit;
    }

    String subject() {
        return subject;
    }

    Delegate delegate() {
        return delegate;
    }

    String unit() {
        return unit;
    }

    /** A line that {@link #ofLine} and {@link #valueOfLine} read. */
    String line(double value) {
        return String.join(SEPARATOR, subject, delegate.name(), unit, Double.toString(value));
    }

    static StateMeasure ofLine(String line) {
        String[] fields = line.split(SEPARATOR, -1);
        return new StateMeasure(fields[0], Delegate.valueOf(fields[1]), fields[2]);
    }

    static double valueOfLine(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(SEPARATOR) + 1));
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof StateMeasure)) {
            return false;
        }
        StateMeasure that = (StateMeasure) other;
        return subject.equals(that.subject) && delegate == that.delegate && unit.equals(that.unit);
    }

    @Override
    public int hashCode() {
        return Objects.hash(subject, delegate, unit);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s, %s, %s", subject, delegate, unit);
    }
}
