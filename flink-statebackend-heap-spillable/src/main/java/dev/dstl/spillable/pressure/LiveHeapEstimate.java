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

package dev.dstl.spillable.pressure;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;

/**
 * Estimates the live bytes of the old generation from what garbage collections leave behind. Used
 * by one thread.
 *
 * <p>A collection of the whole old generation leaves only live bytes. G1 collects it a few regions
 * at a time, and a young collection none of it; what G1 leaves is garbage to an unknown part. The
 * least it left in {@value #WINDOW} collections in a row is what it could not get rid of, which
 * calls for the same remedy. Young collections of other collectors say nothing.
 */
final class LiveHeapEstimate {

    private static final int WINDOW = 8;

    private final Deque<Long> window = new ArrayDeque<>();

    /**
     * @param collector name of the garbage collector, as its management bean gives it
     * @param action what it did, as its notification gives it
     * @param oldBytes what it left in the old generation
     * @return live bytes, if they are known now
     */
    OptionalLong collected(String collector, String action, long oldBytes) {
        if (collectsWholeOldGeneration(collector, action)) {
            window.clear();
            return OptionalLong.of(oldBytes);
        }
        if (!collector.startsWith("G1")) {
            return OptionalLong.empty();
        }
        window.add(oldBytes);
        if (window.size() < WINDOW) {
            return OptionalLong.empty();
        }
        if (window.size() > WINDOW) {
            window.remove();
        }
        return window.stream().mapToLong(Long::longValue).min();
    }

    /** Forgets what was left so far: it was left before state was moved. */
    void restart() {
        window.clear();
    }

    private static boolean collectsWholeOldGeneration(String collector, String action) {
        if (collector.contains("Pauses") || collector.contains("Minor")) {
            return false;
        }
        return action.contains("major")
                || collector.startsWith("ZGC")
                || collector.startsWith("Shenandoah");
    }
}
