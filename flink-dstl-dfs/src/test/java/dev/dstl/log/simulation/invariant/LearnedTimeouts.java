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

package dev.dstl.log.simulation.invariant;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The upload timeouts that a changelog learns, as {@code docs/design/hedging.md} says: {@code
 * upload.timeout}, or three times the slowest of the latest 16 uploads of about that size. An
 * upload that took longer than {@code upload.timeout} and than ten times their median has hung, and
 * counts with the larger of the two. Independent of the production code.
 */
final class LearnedTimeouts {

    /** Number of uploads after which a slow one is forgotten. */
    static final int LATEST = 16;

    private static final int PATIENCE = 3;
    private static final int HUNG = 10;
    private static final long SMALL_BYTES = 16 << 10;
    private static final int SIZE_CLASSES = 7;

    private final long configuredMillis;
    private final Map<Integer, Deque<Upload>> latest = new TreeMap<>();

    LearnedTimeouts(long configuredMillis) {
        this.configuredMillis = configuredMillis;
    }

    /** The same now, whatever is learned later. */
    LearnedTimeouts copy() {
        LearnedTimeouts copy = new LearnedTimeouts(configuredMillis);
        latest.forEach(
                (sizeClass, uploads) -> copy.latest.put(sizeClass, new ArrayDeque<>(uploads)));
        return copy;
    }

    /** An upload that has timed out counts with its timeout. */
    void succeeded(long bytes, long millis) {
        long counted = Math.min(millis, timeoutMillis(bytes));
        Deque<Upload> uploads =
                latest.computeIfAbsent(sizeClass(bytes), key -> new ArrayDeque<>(LATEST));
        if (uploads.size() == LATEST) {
            uploads.removeFirst();
        }
        uploads.addLast(new Upload(bytes, counted));
    }

    private long timeoutMillis(long bytes) {
        List<Double> sorted = sorted(bytes);
        double slowest = sorted.isEmpty() ? 0 : sorted.get(sorted.size() - 1);
        long learned = Math.min((long) (PATIENCE * slowest), longestMillis(bytes));
        return Math.max(configuredMillis, learned);
    }

    /** The longest timeout that fits the latest uploads, however slow the slowest of them was. */
    long longestMillis(long bytes) {
        List<Double> sorted = sorted(bytes);
        double median = sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
        return (long) (PATIENCE * Math.max((double) configuredMillis, HUNG * median));
    }

    /** What an upload of that size would have taken each time. */
    private List<Double> sorted(long bytes) {
        List<Double> sorted = new ArrayList<>();
        for (Upload upload : nearest(sizeClass(bytes))) {
            double larger = (double) weight(bytes) / weight(upload.bytes);
            sorted.add(upload.millis * Math.max(1, larger));
        }
        sorted.sort(null);
        return sorted;
    }

    private Iterable<Upload> nearest(int sizeClass) {
        for (int distance = 0; distance < SIZE_CLASSES; distance++) {
            for (int near : new int[] {sizeClass - distance, sizeClass + distance}) {
                if (latest.containsKey(near)) {
                    return latest.get(near);
                }
            }
        }
        return List.of();
    }

    private static int sizeClass(long bytes) {
        int sizeClass = 0;
        for (long bound = SMALL_BYTES; bytes > bound && sizeClass < SIZE_CLASSES - 1; bound *= 4) {
            sizeClass++;
        }
        return sizeClass;
    }

    private static long weight(long bytes) {
        return Math.max(SMALL_BYTES, bytes);
    }

    private static final class Upload {
        private final long bytes;
        private final long millis;

        private Upload(long bytes, long millis) {
            this.bytes = bytes;
            this.millis = millis;
        }
    }
}
