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

package dev.dstl.spillable.size;

import java.util.Collection;
import java.util.Map;
import javax.annotation.Nullable;

/**
 * What the entries of one state take on the heap, measured on samples of them. Task thread only.
 *
 * <pre>
 *   entry       link in its table, key, namespace, state without its elements
 *   element     of a list or a map: the element or user entry, and its place in the collection
 * </pre>
 *
 * Entries and elements measured long ago count less than those measured lately.
 */
public final class EntrySizes {

    /** Of one entry in this many of a snapshot objects are measured; the others go by bytes. */
    private static final int RESTORED_PER_SAMPLE = 17;

    /** So many entries or elements are remembered, about. */
    private static final int REMEMBERED = 4096;

    private static final double REMEMBERED_BYTES = 64 << 20;

    /** Links and headers of an entry and of an element, whatever they serialize to. */
    private static final int ENTRY_OVERHEAD_BYTES = 96;

    private static final int ELEMENT_OVERHEAD_BYTES = 72;

    private static final int MOST_WEIGHT = 64;

    private static final int ASSUMED_BYTES_PER_ENTRY = 160;
    private static final int ASSUMED_BYTES_PER_ELEMENT = 80;

    /** Objects take about this many times what they take when spilled. */
    private static final int ASSUMED_FACTOR = 3;

    /** A sum that forgets. */
    private static final class Average {
        private final double most;
        private double count;
        private double sum;

        Average(double most) {
            this.most = most;
        }

        void add(double addedCount, double addedSum) {
            if (count > most) {
                count /= 2;
                sum /= 2;
            }
            count += addedCount;
            sum += addedSum;
        }

        double get(double ifUnknown) {
            return count == 0 ? ifUnknown : sum / count;
        }
    }

    private final ObjectSizes objects = new ObjectSizes();
    private Average entries = new Average(REMEMBERED);
    private final Average elements = new Average(REMEMBERED);
    private final Average elementsPerEntry = new Average(REMEMBERED);

    /** Heap bytes of objects, without overhead, by the bytes they have in snapshots. */
    private final Average objectsPerSerialized = new Average(REMEMBERED_BYTES);

    /** Heap bytes of entries by the bytes they have off-heap. */
    private final Average heapPerSpilled = new Average(REMEMBERED_BYTES);

    private long samples;
    private long restored;

    /**
     * Elements of a state: user entries of a map, elements of a list, none of another. None also of
     * a collection of the job's own that does not tell.
     */
    public static int elementsOf(@Nullable Object state) {
        try {
            if (state instanceof Map) {
                return ((Map<?, ?>) state).size();
            }
            return state instanceof Collection ? ((Collection<?>) state).size() : 0;
        } catch (RuntimeException e) {
            return 0;
        }
    }

    /** Measures an entry that is on the heap. */
    public void sample(Object key, Object namespace, Object state) {
        startSample(key);
        entries.add(1, ownBytes(key, namespace, state));
        int count = elementsOf(state);
        elementsPerEntry.add(1, count);
        if (count > 0) {
            // A longer list has more to say about its elements, up to a point.
            double weight = Math.min(count, MOST_WEIGHT);
            elements.add(weight, weight * perElement(state));
        }
    }

    private void startSample(Object key) {
        objects.startEntry(key);
        // What all entries share is told from what each has by comparing two of them.
        if (++samples == 2) {
            entries = new Average(REMEMBERED);
        }
    }

    /** Bytes of an entry without its elements. */
    private double ownBytes(Object key, Object namespace, Object state) {
        long link = ObjectLayout.object(4, 3 * Integer.BYTES) + 2L * ObjectLayout.REFERENCE_BYTES;
        long stateBytes =
                state instanceof Map || state instanceof Collection
                        ? ObjectSizes.emptyCollection()
                        : objects.of(state);
        return (double) (link + objects.of(key) + objects.of(namespace) + stateBytes);
    }

    private double perElement(Object state) {
        return (double)
                (state instanceof Map
                        ? objects.perElement((Map<?, ?>) state)
                        : objects.perElement((Collection<?>) state));
    }

    /**
     * Takes notice of an entry of a snapshot.
     *
     * @param serializedBytes what it takes there
     */
    public void restored(Object key, Object namespace, Object state, long serializedBytes) {
        int count = elementsOf(state);
        double overhead = ENTRY_OVERHEAD_BYTES + (double) count * ELEMENT_OVERHEAD_BYTES;
        if (restored++ % RESTORED_PER_SAMPLE == 0) {
            startSample(key);
            double own = ownBytes(key, namespace, state);
            double all = own;
            entries.add(1, own);
            if (count > 0) {
                double perElement = perElement(state);
                elements.add(count, perElement * count);
                all += perElement * count;
            }
            measured(serializedBytes, all, overhead);
        } else if (count == 0) {
            entries.add(1, estimate(serializedBytes, overhead));
        } else {
            double own = entries.get(ASSUMED_BYTES_PER_ENTRY);
            elements.add(count, Math.max(0, estimate(serializedBytes, overhead) - own));
        }
    }

    /**
     * Takes notice of an element, or a user entry, of a snapshot that has them one by one.
     *
     * @param userKey null if it is not that of a map
     * @param serializedBytes what it takes there
     */
    public void restoredElement(
            @Nullable Object userKey, @Nullable Object element, long serializedBytes) {
        if (restored++ % RESTORED_PER_SAMPLE == 0) {
            objects.startEntry(userKey == null ? element : userKey);
            double bytes =
                    (double) (ObjectSizes.ofNode() + objects.of(userKey) + objects.of(element));
            elements.add(1, bytes);
            measured(serializedBytes, bytes, ELEMENT_OVERHEAD_BYTES);
        } else {
            elements.add(1, estimate(serializedBytes, ELEMENT_OVERHEAD_BYTES));
        }
    }

    private void measured(long serializedBytes, double heapBytes, double overheadBytes) {
        objectsPerSerialized.add((double) serializedBytes, Math.max(0, heapBytes - overheadBytes));
        heapPerSpilled.add((double) serializedBytes, heapBytes);
    }

    private double estimate(long serializedBytes, double overheadBytes) {
        return overheadBytes + serializedBytes * objectsPerSerialized.get(ASSUMED_FACTOR);
    }

    /** Takes notice of entries that moved, in either direction. */
    public void moved(double heapBytes, long spilledBytes) {
        if (spilledBytes > 0) {
            heapPerSpilled.add((double) spilledBytes, heapBytes);
        }
    }

    /** Elements that the state of an entry has on average. */
    public double elementsPerEntry() {
        return elementsPerEntry.get(0);
    }

    /** Bytes that so many entries take on the heap, with so many elements in all of them. */
    public double heapBytes(double entryCount, double elementCount) {
        return entryCount * entries.get(ASSUMED_BYTES_PER_ENTRY)
                + elementCount * elements.get(ASSUMED_BYTES_PER_ELEMENT);
    }

    /** Bytes that entries would take on the heap. */
    public double loadedBytes(long spilledBytes) {
        return spilledBytes * heapPerSpilled.get(ASSUMED_FACTOR);
    }
}
