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

/** The result of a verification. Immutable. */
public final class Verdict {

    private final long expectedRows;
    private final List<String> deviations;

    Verdict(long expectedRows, List<String> deviations) {
        this.expectedRows = expectedRows;
        this.deviations = List.copyOf(deviations);
    }

    /** Returns whether every expected row occurred exactly once, and no other row. */
    public boolean holds() {
        return deviations.isEmpty();
    }

    /** Returns the number of expected rows. */
    public long expectedRows() {
        return expectedRows;
    }

    /** Returns the number of deviations of each kind, with examples; empty if there are none. */
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
