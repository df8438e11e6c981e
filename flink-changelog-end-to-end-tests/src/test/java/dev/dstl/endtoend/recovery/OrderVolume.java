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

package dev.dstl.endtoend.recovery;

import dev.dstl.benchmarks.verification.OrderModel;
import dev.dstl.benchmarks.workload.orders.OrderInput;
import java.time.Duration;
import java.util.Map;

/** Number of orders, and the time in which they arrive at the normal rate. */
final class OrderVolume {
    /** 15,000 orders, 75,000 events. */
    static final OrderVolume SMALL = new OrderVolume(0.01, Duration.ofMinutes(2));

    /** 30,000 orders, 150,000 events; longer than any round of the soak takes. */
    static final OrderVolume LARGE = new OrderVolume(0.02, Duration.ofMinutes(6));

    /** As many as in SMALL, but so slow that the job outlasts outages of its store. */
    static final OrderVolume SLOW = new OrderVolume(0.01, Duration.ofMinutes(20));

    private final double scale;
    private final Duration wholeInput;
    private Map<String, String> expected;

    private OrderVolume(double scale, Duration wholeInput) {
        this.scale = scale;
        this.wholeInput = wholeInput;
    }

    OrderInput input() {
        return new OrderInput(scale);
    }

    Duration wholeInput() {
        return wholeInput;
    }

    /** Expected rows, from an independent reading of the tables. Computed once. */
    synchronized Map<String, String> expectedRows() {
        if (expected == null) {
            expected = new OrderModel(scale).expectedRows();
        }
        return expected;
    }
}
