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

package dev.dstl.benchmarks.cost;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.Collectors;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.GraphLayout;

/**
 * Sizes of object graphs. Weak references are calculated instead of walked: while the garbage
 * collector marks, it links those it has found, so a walk would go on to references of others.
 */
final class WalkedHeap {

    private static final int MIN_WEAK_TABLE = 16;

    private WalkedHeap() {}

    /**
     * Returns the size in bytes of everything that is reachable.
     *
     * @throws IllegalArgumentException if that contains a {@link Reference}
     */
    static long bytes(Collection<?> roots) {
        GraphLayout walked = GraphLayout.parseInstance(roots.toArray());
        Set<Class<?>> references =
                walked.getClasses().stream()
                        .filter(Reference.class::isAssignableFrom)
                        .collect(Collectors.toSet());
        if (!references.isEmpty()) {
            throw new IllegalArgumentException(
                    "Size unknown, since its references may lead to foreign objects: "
                            + references);
        }
        return walked.totalSize();
    }

    /**
     * Returns the size in bytes of a {@link WeakHashMap} whose values are {@link WeakReference}s,
     * without its keys.
     *
     * @param entries number of its entries
     */
    static long weakMapBytes(int entries) {
        // WeakHashMap doubles its table when it is three quarters full.
        int table = MIN_WEAK_TABLE;
        while (entries >= table / 4 * 3) {
            table *= 2;
        }
        long perEntry = bytesOf(entryClass()) + bytesOf(WeakReference.class);
        return bytesOf(WeakHashMap.class)
                + ClassLayout.parseInstance(new Object[table]).instanceSize()
                + entries * perEntry;
    }

    private static Class<?> entryClass() {
        return Arrays.stream(WeakHashMap.class.getDeclaredClasses())
                .filter(WeakReference.class::isAssignableFrom)
                .findAny()
                .orElseThrow();
    }

    private static long bytesOf(Class<?> one) {
        return ClassLayout.parseClass(one).instanceSize();
    }
}
