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

package dev.dstl.log.writer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedSet;
import java.util.TreeMap;
import javax.annotation.Nullable;

/**
 * The batches of a changelog that are not truncated, in order and without gaps, and the compaction
 * boundaries between them, where a persist may begin. Guarded by the {@link LogTail} it belongs to.
 */
final class TailBatches {

    private final NavigableMap<Long, TailBatch> batches;

    /** Number of boundaries by sequence number; null as long as a persist may begin anywhere. */
    @Nullable private TreeMap<Long, Integer> boundaries;

    TailBatches() {
        this(new TreeMap<>());
    }

    /**
     * Creates the batches of a changelog.
     *
     * @param batches empty; by sequence number
     */
    TailBatches(NavigableMap<Long, TailBatch> batches) {
        this.batches = batches;
    }

    void add(TailBatch batch) {
        batches.put(batch.sequence(), batch);
    }

    Collection<TailBatch> all() {
        return batches.values();
    }

    /**
     * Returns the batches {@code [from, to)}.
     *
     * @throws IllegalArgumentException if some of these batches were truncated
     */
    List<TailBatch> range(long from, long to) {
        List<TailBatch> range = new ArrayList<>(batches.subMap(from, to).values());
        long next = from;
        for (TailBatch batch : range) {
            next = batch.sequence() == next ? batch.end() : next;
        }
        if (next != to) {
            throw new IllegalArgumentException(
                    String.format(
                            "State changes [%d, %d) were requested, but those before %s are"
                                    + " truncated",
                            from, to, batches.isEmpty() ? to : batches.firstKey()));
        }
        return range;
    }

    /** Allows a persist to begin at {@code sequence}, which the next batch will have. */
    void addCompactionBoundary(long sequence) {
        if (boundaries == null) {
            boundaries = new TreeMap<>();
        }
        boundaries.merge(sequence, 1, Integer::sum);
    }

    /** Removes one boundary at {@code sequence}. */
    void removeCompactionBoundary(long sequence) {
        if (boundaries != null) {
            boundaries.computeIfPresent(sequence, (key, bases) -> bases == 1 ? null : bases - 1);
        }
    }

    /**
     * Returns the sequence numbers at which a persist may begin. Null as long as it may begin
     * anywhere and nothing may be compacted.
     */
    @Nullable
    SortedSet<Long> boundaries() {
        return boundaries == null ? null : boundaries.navigableKeySet();
    }

    /** Returns whether none of these batches was truncated. */
    boolean holds(List<TailBatch> inputs) {
        for (TailBatch batch : inputs) {
            if (batches.get(batch.sequence()) != batch) {
                return false;
            }
        }
        return true;
    }

    /**
     * Replaces the batches that were compacted into one. Allocates before it changes anything, so
     * that an error leaves no gap.
     */
    void replaceBy(TailBatch compacted) {
        Iterator<Map.Entry<Long, TailBatch>> inputs =
                batches.subMap(compacted.sequence(), compacted.end()).entrySet().iterator();
        inputs.next().setValue(compacted);
        while (inputs.hasNext()) {
            inputs.next();
            inputs.remove();
        }
    }

    /**
     * Removes the batches before {@code to}. A batch that extends beyond it stays.
     *
     * @return the removed batches
     */
    List<TailBatch> truncate(long to) {
        List<TailBatch> truncated = new ArrayList<>();
        Iterator<TailBatch> oldest = batches.values().iterator();
        while (oldest.hasNext()) {
            TailBatch batch = oldest.next();
            if (batch.end() > to) {
                break;
            }
            truncated.add(batch);
            oldest.remove();
        }
        if (boundaries != null) {
            boundaries.headMap(to).clear();
        }
        return truncated;
    }

    void clear() {
        batches.clear();
    }

    /**
     * Returns whether there are batches, and a handle may contain them all.
     *
     * @param thresholdBytes for the records of the last batch, and all that a handle contains of
     *     those before it
     */
    static boolean canTravelInline(List<TailBatch> missing, long thresholdBytes) {
        long bytes = 0;
        for (TailBatch batch : missing) {
            if (bytes + batch.sizeBytes() > thresholdBytes || !batch.canTravelInline()) {
                return false;
            }
            bytes += batch.sealed().inlineBytes();
        }
        return !missing.isEmpty();
    }
}
