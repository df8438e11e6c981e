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

package dev.dstl.benchmarks.simulated.store;

import java.util.Arrays;
import java.util.function.LongBinaryOperator;

/** Numbers of requests by type, and bytes, at one moment or between two. Immutable. */
public final class RequestCounts {

    private static final int TYPES = RequestType.values().length;
    static final int BYTES_WRITTEN = 2 * TYPES;
    static final int BYTES_READ = 2 * TYPES + 1;
    static final int SLOTS = 2 * TYPES + 2;

    private final long[] slots;

    RequestCounts(long[] slots) {
        this.slots = slots;
    }

    static int requestSlot(RequestType type) {
        return type.slot();
    }

    static int failureSlot(RequestType type) {
        return TYPES + type.slot();
    }

    /** Returns counts of zero. */
    public static RequestCounts none() {
        return new RequestCounts(new long[SLOTS]);
    }

    /** Returns the number of requests of a type, including failed ones. */
    public long requests(RequestType type) {
        return slots[requestSlot(type)];
    }

    /** Returns the number of requests of all types. */
    public long requests() {
        return Arrays.stream(slots, 0, TYPES).sum();
    }

    /**
     * Returns the number of requests with a simulated failure. A missing object is not a failure.
     */
    public long failures(RequestType type) {
        return slots[failureSlot(type)];
    }

    /** Returns the bytes of objects that became visible. */
    public long bytesWritten() {
        return slots[BYTES_WRITTEN];
    }

    /** Returns the bytes that were returned to readers. */
    public long bytesRead() {
        return slots[BYTES_READ];
    }

    /** Returns the sums. */
    public RequestCounts plus(RequestCounts other) {
        return combine(other, Math::addExact);
    }

    /** Returns the differences. */
    public RequestCounts minus(RequestCounts earlier) {
        return combine(earlier, Math::subtractExact);
    }

    private RequestCounts combine(RequestCounts other, LongBinaryOperator operator) {
        long[] result = new long[SLOTS];
        Arrays.setAll(result, i -> operator.applyAsLong(slots[i], other.slots[i]));
        return new RequestCounts(result);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RequestCounts
                && Arrays.equals(slots, ((RequestCounts) other).slots);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(slots);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (RequestType type : RequestType.values()) {
            text.append(type).append(' ').append(requests(type)).append(", ");
        }
        return text.append(bytesWritten())
                .append(" bytes written, ")
                .append(bytesRead())
                .append(" bytes read")
                .toString();
    }
}
