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

package dev.dstl.log.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;

/**
 * The attempts that are writing, and the conclusions from comparing them.
 *
 * <p>Attempts share the link to the store, so an attempt of equal size that began later should end
 * later. If attempts that began after a live one, one after the other, complete three times its
 * bytes, the live one is overtaken: its connection is dead rather than slow. This needs no clock,
 * and also holds on a link that is congested or was down for a while.
 *
 * <pre>
 *   hanging  |------------------------------------------------ ...
 *   others      |--- 2 MB ---|    |--- 2 MB ---|  |--- 2 MB ---|  overtaken, if it has 2 MB
 *                     |--- 2 MB ---|                              beside the first, not counted
 * </pre>
 *
 * <p>Thread-safe; no method blocks.
 *
 * @param <A> an attempt
 */
final class LiveAttempts<A> {

    /** Connections share a link only roughly fairly. */
    private static final int OVERTAKEN = 3;

    /** In start order. */
    @GuardedBy("this")
    private final Map<A, Entry> entries = new LinkedHashMap<>();

    /**
     * Reports that an attempt starts to write.
     *
     * @param bytes size of its segment
     * @param replaceableNanos age from which it may count as overtaken
     */
    synchronized void began(A attempt, long bytes, long nowNanos, long replaceableNanos) {
        entries.put(attempt, new Entry(bytes, nowNanos, replaceableNanos));
    }

    /** Reports that an attempt is slower than most. */
    synchronized void becameSlow(A attempt) {
        Entry entry = entries.get(attempt);
        if (entry != null) {
            entry.slow = true;
        }
    }

    /** Reports that an attempt has timed out. */
    synchronized void timedOut(A attempt) {
        Entry entry = entries.get(attempt);
        if (entry != null) {
            entry.slow = true;
            entry.timedOut = true;
        }
    }

    /** Removes an attempt that has ended or was abandoned. */
    synchronized void ended(A attempt) {
        entries.remove(attempt);
    }

    /**
     * Reports that an attempt succeeded.
     *
     * @return attempts that are overtaken because of it, oldest first
     */
    synchronized List<A> succeeded(A attempt, long nowNanos) {
        Entry winner = entries.remove(attempt);
        List<A> overtaken = new ArrayList<>();
        if (winner != null) {
            entries.forEach(
                    (other, entry) -> {
                        if (entry.isOvertakenBy(winner, nowNanos)) {
                            overtaken.add(other);
                        }
                    });
        }
        return overtaken;
    }

    /** Returns the size of all segments that are being written, each as often as it is. */
    synchronized long bytes() {
        long bytes = 0;
        for (Entry entry : entries.values()) {
            bytes += entry.bytes;
        }
        return bytes;
    }

    /** Returns whether most other attempts are unusually slow, in which case the store is slow. */
    synchronized boolean areOthersSlow(A attempt) {
        int others = 0;
        int slow = 0;
        for (Map.Entry<A, Entry> entry : entries.entrySet()) {
            if (entry.getKey() != attempt) {
                others++;
                slow += entry.getValue().slow ? 1 : 0;
            }
        }
        return 2 * slow > others;
    }

    /**
     * Returns the smallest attempt that has timed out while no other attempt of comparable size is
     * in time, whose success would soon show whether the store serves requests.
     */
    @Nullable
    synchronized A neitherServedNorOvertaken() {
        long inTimeBytes = 0;
        for (Entry entry : entries.values()) {
            inTimeBytes = entry.timedOut ? inTimeBytes : Math.max(inTimeBytes, entry.bytes);
        }
        A smallest = null;
        long smallestBytes = Long.MAX_VALUE;
        for (Map.Entry<A, Entry> entry : entries.entrySet()) {
            long bytes = entry.getValue().bytes;
            if (entry.getValue().timedOut && bytes > 2 * inTimeBytes && bytes < smallestBytes) {
                smallest = entry.getKey();
                smallestBytes = bytes;
            }
        }
        return smallest;
    }

    private static final class Entry {
        private final long bytes;
        private final long startNanos;
        private final long replaceableNanos;
        private boolean slow;
        private boolean timedOut;

        /** Total size of segments that others wrote meanwhile, one after the other. */
        private long overtakenBytes;

        /** When the last of these ended. */
        private long overtakenNanos;

        private Entry(long bytes, long startNanos, long replaceableNanos) {
            this.bytes = bytes;
            this.startNanos = startNanos;
            this.replaceableNanos = replaceableNanos;
            this.overtakenNanos = startNanos;
        }

        private boolean isOvertakenBy(Entry winner, long nowNanos) {
            if (winner.startNanos - overtakenNanos >= 0 && winner.startNanos != startNanos) {
                overtakenBytes += Math.max(1, winner.bytes);
                overtakenNanos = nowNanos;
            }
            return overtakenBytes >= OVERTAKEN * Math.max(1, bytes)
                    && nowNanos - replaceableNanos >= 0;
        }
    }
}
