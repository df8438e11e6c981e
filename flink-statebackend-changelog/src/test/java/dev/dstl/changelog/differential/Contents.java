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

package dev.dstl.changelog.differential;

import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.world.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Compares the state of two operators. */
final class Contents {

    private static final int SHOWN = 5;

    private Contents() {}

    /** Compares all operators of all subtasks. */
    static void compare(
            List<List<KeyedOperator>> plain, List<List<KeyedOperator>> changelog, int lookedAt)
            throws Exception {
        for (int subtask = 0; subtask < plain.size(); subtask++) {
            for (int operator = 0; operator < plain.get(subtask).size(); operator++) {
                compare(
                        plain.get(subtask).get(operator),
                        changelog.get(subtask).get(operator),
                        lookedAt);
            }
        }
    }

    private static void compare(KeyedOperator plain, KeyedOperator changelog, int lookedAt)
            throws Exception {
        Map<String, String> expected = plain.contents(lookedAt);
        Map<String, String> found;
        try {
            found = changelog.contents(lookedAt);
        } catch (Exception e) {
            throw new Violation("Restored state cannot be read", e);
        }
        if (!found.equals(expected)) {
            throw new Violation("Restored state differs: " + differences(expected, found));
        }
        compareKeys(plain.listed(lookedAt), changelog.listed(lookedAt));
    }

    /** A restored job must list no key twice, and none that the plain one does not. */
    private static void compareKeys(
            Map<String, List<String>> plain, Map<String, List<String>> changelog) {
        changelog.forEach(
                (state, keys) -> {
                    List<String> extra = new ArrayList<>(keys);
                    plain.get(state).forEach(extra::remove);
                    if (!extra.isEmpty()) {
                        throw new Violation("Keys of " + state + " that are not there: " + extra);
                    }
                });
    }

    private static List<String> differences(
            Map<String, String> expected, Map<String, String> found) {
        List<String> differences = new ArrayList<>();
        TreeSet<String> names = new TreeSet<>(expected.keySet());
        names.addAll(found.keySet());
        for (String name : names) {
            String should = expected.get(name);
            String is = found.get(name);
            if (differences.size() < SHOWN && !String.valueOf(should).equals(String.valueOf(is))) {
                differences.add(name + ": expected " + should + ", found " + is);
            }
        }
        return differences;
    }
}
