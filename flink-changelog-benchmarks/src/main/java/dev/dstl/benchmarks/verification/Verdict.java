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

package dev.dstl.benchmarks.verification;

import java.util.List;
import java.util.Locale;

/** The outcome of a verification. Immutable. */
public final class Verdict {

    private final long expectedRows;
    private final List<String> deviations;

    Verdict(long expectedRows, List<String> deviations) {
        this.expectedRows = expectedRows;
        this.deviations = List.copyOf(deviations);
    }

    /** Whether every expected row came exactly once and nothing else came. */
    public boolean holds() {
        return deviations.isEmpty();
    }

    /** How many rows there had to be. */
    public long expectedRows() {
        return expectedRows;
    }

    /** Lines for the reader: counts per kind of deviation, with examples; empty if it holds. */
    public List<String> deviations() {
        return deviations;
    }

    @Override
    public String toString() {
        return holds()
                ? String.format(Locale.ROOT, "all %,d rows exactly once", expectedRows)
                : String.join("\n", deviations);
    }
}
