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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Compares rows with the expected ones: each key must occur exactly once, with the expected value.
 * Rows come in any order. Not thread-safe.
 */
public final class Verification {

    private static final int EXAMPLES = 5;

    private final Map<String, String> expected;
    private final Map<String, Integer> seen = new HashMap<>();
    private final Deviation duplicates = new Deviation("duplicate");
    private final Deviation wrong = new Deviation("wrong");
    private final Deviation unexpected = new Deviation("unexpected");

    /**
     * Creates a verification.
     *
     * @param expected expected values by key
     */
    public Verification(Map<String, String> expected) {
        this.expected = expected;
    }

    /** Adds a row of the result. */
    public void row(String row) {
        int tab = row.indexOf('\t');
        String key = tab < 0 ? row : row.substring(0, tab);
        String value = tab < 0 ? "" : row.substring(tab + 1);
        String wanted = expected.get(key);
        if (wanted == null) {
            unexpected.add(row);
            return;
        }
        int times = seen.merge(key, 1, Integer::sum);
        if (times > 1) {
            duplicates.add(key + " came " + times + " times, now with " + value);
        }
        if (!wanted.equals(value)) {
            wrong.add(key + " is " + value + " and should be " + wanted);
        }
    }

    /** Returns the result after all rows were added. */
    public Verdict verdict() {
        Deviation lost = new Deviation("lost");
        for (Map.Entry<String, String> row : expected.entrySet()) {
            if (!seen.containsKey(row.getKey())) {
                lost.add(row.getKey() + " " + row.getValue());
            }
        }
        List<String> deviations = new ArrayList<>();
        for (Deviation deviation : List.of(lost, duplicates, wrong, unexpected)) {
            deviation.describe(deviations);
        }
        return new Verdict(expected.size(), deviations);
    }

    /** A kind of deviation: its number, and the first examples. */
    private static final class Deviation {
        private final String kind;
        private final List<String> examples = new ArrayList<>();
        private long count;

        private Deviation(String kind) {
            this.kind = kind;
        }

        private void add(String example) {
            count++;
            if (examples.size() < EXAMPLES) {
                examples.add(example);
            }
        }

        private void describe(List<String> lines) {
            if (count > 0) {
                lines.add(String.format(Locale.ROOT, "%,d %s:", count, kind));
                examples.forEach(example -> lines.add("  " + example));
            }
        }
    }
}
