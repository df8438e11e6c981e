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
import java.util.List;

/**
 * Iterates over the events of one split, with one stripe in memory at a time. Used by the task
 * thread.
 *
 * @param <E> the type of the events
 */
final class StripeCursor<E> {

    private final StripedInput<E> input;
    private final StripeSplit split;
    private final long stripeCount;
    private long stripe;
    private int offset;
    private long emitted;
    private List<E> events;

    StripeCursor(StripedInput<E> input, StripeSplit split) throws IOException {
        this.input = input;
        this.split = split;
        this.stripeCount = input.stripeCount();
        this.stripe = split.stripe();
        this.offset = split.offset();
        this.emitted = split.emitted();
        load();
        skipEmptyStripes();
    }

    String splitId() {
        return split.splitId();
    }

    /** Returns whether all events were taken. */
    boolean isExhausted() {
        return stripe >= stripeCount;
    }

    /** Returns the event time of the next event in milliseconds. */
    long eventTimeMillis() {
        return input.eventTimeMillis(events.get(offset));
    }

    /** Takes the next event. */
    E next() throws IOException {
        E event = events.get(offset++);
        emitted++;
        skipEmptyStripes();
        return event;
    }

    long emitted() {
        return emitted;
    }

    /** Returns the fraction of the split that was taken, in [0, 1]. */
    double fraction() {
        if (isExhausted()) {
            return 1;
        }
        double within = events.isEmpty() ? 0 : (double) offset / events.size();
        return Math.min(1, (stripe - split.index() + within * split.stride()) / stripeCount);
    }

    /** Returns the position for a checkpoint. */
    StripeSplit position() {
        return new StripeSplit(split.index(), split.stride(), stripe, offset, emitted);
    }

    private void skipEmptyStripes() throws IOException {
        while (!isExhausted() && offset >= events.size()) {
            stripe += split.stride();
            offset = 0;
            load();
        }
    }

    private void load() throws IOException {
        events = isExhausted() ? List.of() : input.read(stripe);
    }
}
