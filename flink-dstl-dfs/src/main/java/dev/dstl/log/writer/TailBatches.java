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
import java.util.SortedSet;
import java.util.TreeMap;
import javax.annotation.Nullable;

/**
 * The batches of a log that are not truncated, in order and without gaps, and the compaction
 * boundaries between them, where a persist may begin. Guarded by the {@link LogTail} it belongs to.
 */
final class TailBatches {

    private final TreeMap<Long, TailBatch> batches = new TreeMap<>();

    /**
     * How many bases may begin at a sequence number; null as long as a persist may begin anywhere.
     */
    @Nullable private TreeMap<Long, Integer> boundaries;

    void add(TailBatch batch) {
        batches.put(batch.sequence(), batch);
    }

    /** Whether one begins with a sequence number. */
    boolean hasBatchAt(long sequence) {
        return batches.containsKey(sequence);
    }

    Collection<TailBatch> all() {
        return batches.values();
    }

    /**
     * The batches {@code [from, to)}.
     *
     * @throws IllegalArgumentException if some of them were truncated
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
                            "Changes [%d, %d) were asked for, but those before %s are truncated",
                            from, to, batches.isEmpty() ? to : batches.firstKey()));
        }
        return range;
    }

    /** A persist may begin at {@code sequence}, with which the next batch will begin. */
    void addCompactionBoundary(long sequence) {
        if (boundaries == null) {
            boundaries = new TreeMap<>();
        }
        boundaries.merge(sequence, 1, Integer::sum);
    }

    /** One of the bases that might have begun at {@code sequence} never will. */
    void removeCompactionBoundary(long sequence) {
        if (boundaries != null) {
            boundaries.computeIfPresent(sequence, (key, bases) -> bases == 1 ? null : bases - 1);
        }
    }

    /**
     * The compaction boundaries: where a persist may begin. Null as long as it may begin anywhere,
     * and nothing may be compacted.
     */
    @Nullable
    SortedSet<Long> boundaries() {
        return boundaries == null ? null : boundaries.navigableKeySet();
    }

    /** Whether none of them was truncated. */
    boolean holds(List<TailBatch> inputs) {
        for (TailBatch batch : inputs) {
            if (batches.get(batch.sequence()) != batch) {
                return false;
            }
        }
        return true;
    }

    /** Puts one batch in the place of some. */
    void replace(List<TailBatch> inputs, TailBatch compacted) {
        inputs.forEach(batch -> batches.remove(batch.sequence()));
        add(compacted);
    }

    /**
     * Removes the batches before {@code to}; one that goes on behind it stays.
     *
     * @return those
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
}
