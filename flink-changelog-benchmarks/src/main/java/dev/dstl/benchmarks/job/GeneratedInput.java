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

package dev.dstl.benchmarks.job;

import dev.dstl.benchmarks.source.StripedInput;
import java.util.ArrayList;
import java.util.List;

/**
 * Events computed from their number, so many that no run reads all. They have no event time.
 *
 * @param <E> the type of the events
 */
abstract class GeneratedInput<E> implements StripedInput<E> {

    private static final long serialVersionUID = 1L;

    /** Days of input at any rate that one machine can process. */
    static final long RECORDS = 1_000_000_000_000L;

    private static final int RECORDS_PER_STRIPE = 1000;

    /** Returns the event of a number in [0, RECORDS). */
    abstract E event(long number);

    @Override
    public final long stripeCount() {
        return RECORDS / RECORDS_PER_STRIPE;
    }

    @Override
    public final List<E> read(long stripe) {
        List<E> events = new ArrayList<>(RECORDS_PER_STRIPE);
        long first = stripe * RECORDS_PER_STRIPE;
        for (long number = first; number < first + RECORDS_PER_STRIPE; number++) {
            events.add(event(number));
        }
        return events;
    }

    @Override
    public final long eventTimeMillis(E event) {
        return 0;
    }
}
