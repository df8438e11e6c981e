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

package dev.dstl.endtoend.objectstore.front;

import dev.dstl.benchmarks.simulated.store.RequestType;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Which of the next requests fail, and how. Thread-safe. */
final class FaultPlan {

    private final List<Step> steps = new ArrayList<>();

    /** Makes the next requests of a type for some keys fail. */
    synchronized void add(FrontFault fault, RequestType type, Predicate<String> keys, int times) {
        if (times < 1) {
            throw new IllegalArgumentException("A fault happens at least once, found " + times);
        }
        steps.add(new Step(fault, type, keys, times));
    }

    /** Removes all pending faults. */
    synchronized void clear() {
        steps.clear();
    }

    /** Returns the fault of a request and uses it up; empty if there is none. */
    synchronized Optional<FrontFault> next(SeenRequest request) {
        for (Iterator<Step> each = steps.iterator(); each.hasNext(); ) {
            Step step = each.next();
            if (step.fits(request)) {
                if (--step.left == 0) {
                    each.remove();
                }
                return Optional.of(step.fault);
            }
        }
        return Optional.empty();
    }

    private static final class Step {
        private final FrontFault fault;
        private final RequestType type;
        private final Predicate<String> keys;
        private int left;

        private Step(FrontFault fault, RequestType type, Predicate<String> keys, int left) {
            this.fault = fault;
            this.type = type;
            this.keys = keys;
            this.left = left;
        }

        private boolean fits(SeenRequest request) {
            return request.type() == type && keys.test(request.key());
        }
    }
}
