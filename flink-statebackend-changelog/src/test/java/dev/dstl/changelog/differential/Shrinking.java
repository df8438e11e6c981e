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

import dev.dstl.changelog.differential.history.History;
import dev.dstl.changelog.differential.history.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.function.FunctionWithException;

/** Removes steps from a failing history as long as it fails in the same way. */
final class Shrinking {

    private static final long PATIENCE_NANOS =
            TimeUnit.SECONDS.toNanos(Long.getLong("differential.shrinking", 30));

    private Shrinking() {}

    static DifferentialResult of(DifferentialResult failing) throws Exception {
        return of(failing, DifferentialResult::of);
    }

    /**
     * @param running runs a history
     */
    static DifferentialResult of(
            DifferentialResult failing,
            FunctionWithException<History, DifferentialResult, Exception> running)
            throws Exception {
        long end = System.nanoTime() + PATIENCE_NANOS;
        DifferentialResult smallest = failing;
        List<Step> steps = untilItFailed(failing);
        if (steps.size() < failing.history().steps().size()) {
            DifferentialResult shorter = running.apply(failing.history().with(steps));
            if (isSame(shorter, failing)) {
                smallest = shorter;
            } else {
                // such as a failure that only the end of the job shows
                steps = failing.history().steps();
            }
        }
        int chunk = Math.max(1, steps.size() / 2);
        while (System.nanoTime() < end) {
            boolean smaller = false;
            for (int from = 0; from < steps.size() && System.nanoTime() < end; ) {
                List<Step> fewer = new ArrayList<>(steps.subList(0, from));
                fewer.addAll(steps.subList(Math.min(steps.size(), from + chunk), steps.size()));
                DifferentialResult result = running.apply(failing.history().with(fewer));
                if (isSame(result, failing)) {
                    smallest = result;
                    steps = untilItFailed(result);
                    smaller = true;
                } else {
                    from += chunk;
                }
            }
            if (chunk == 1 && !smaller) {
                break;
            }
            chunk = Math.max(1, chunk / 2);
        }
        return smallest;
    }

    /** Returns the steps up to the one that failed. */
    private static List<Step> untilItFailed(DifferentialResult result) {
        List<Step> steps = result.history().steps();
        return steps.subList(0, Math.min(steps.size(), result.stepsDone() + 1));
    }

    private static boolean isSame(DifferentialResult result, DifferentialResult failing) {
        return result.isViolated() && result.kind().equals(failing.kind());
    }
}
