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

package dev.dstl.benchmarks.source;

import java.io.IOException;
import java.io.Serializable;
import java.util.List;

/**
 * A bounded input cut into stripes, each of which can be read again and then gives the same events
 * in the same order. Used by one task thread at a time.
 *
 * <p>Event times never decrease within a stripe, and no event of a stripe is older than one of an
 * earlier stripe, so a reader that takes stripes in order never makes late events.
 *
 * @param <E> the type of the events
 */
public interface StripedInput<E> extends Serializable {

    /** Returns the number of stripes, at least 1; the same for every caller. */
    long stripeCount();

    /**
     * Reads a stripe from its start.
     *
     * @param stripe in [0, {@link #stripeCount()})
     * @return events of the stripe, possibly none
     * @throws IOException if the input cannot be read; the task fails and is restarted
     */
    List<E> read(long stripe) throws IOException;

    /** Returns the event time of an event in milliseconds, by the input's own clock. */
    long eventTimeMillis(E event);
}
