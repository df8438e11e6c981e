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

package dev.dstl.spillable.layout;

import dev.dstl.spillable.overlay.EntryReader;
import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes entries of one layout in another. Of a large list or map only a part is on the heap at a
 * time. Used by the thread of both layouts.
 */
public final class EntryRewrite<K, N, S> {

    private final SpilledLayout<K, N, S> from;
    private final SpilledLayout<K, N, S> to;

    /**
     * @param from reads the entries
     * @param to another object, also if it is equal
     */
    public EntryRewrite(SpilledLayout<K, N, S> from, SpilledLayout<K, N, S> to) {
        this.from = from;
        this.to = to;
    }

    /**
     * Writes an entry to another map.
     *
     * @param key bytes of an entry that is among {@code entries} and not yet in {@code target}
     * @throws IOException if it cannot be read or written; part of it may be in {@code target} then
     */
    public void rewrite(EntryReader entries, byte[] key, PartitionedMap target) throws IOException {
        from.selectBytes(key);
        from.readKey(to::select);
        boolean rewritten = false;
        if (from instanceof MapLayout && to instanceof MapLayout) {
            rewritten =
                    rewriteMap(
                            entries,
                            (MapLayout<?, ?, ?, ?>) from,
                            (MapLayout<?, ?, ?, ?>) to,
                            target);
        } else if (from instanceof ListLayout && to instanceof ListLayout) {
            rewritten =
                    rewriteList(
                            entries, (ListLayout<?, ?, ?>) from, (ListLayout<?, ?, ?>) to, target);
        }
        if (!rewritten) {
            to.write(target, from.read(entries));
        }
    }

    /** False if it is small, or nothing was in its buckets. */
    @SuppressWarnings("unchecked") // both are layouts of the same state
    private static <UK, UV> boolean rewriteMap(
            EntryReader entries,
            MapLayout<?, ?, UK, UV> from,
            MapLayout<?, ?, ?, ?> to,
            PartitionedMap target)
            throws IOException {
        MapLayout<?, ?, UK, UV> other = (MapLayout<?, ?, UK, UV>) to;
        int buckets = from.parts(entries);
        boolean rewritten = false;
        for (int i = 0; i < buckets; i++) {
            List<UK> userKeys = new ArrayList<>();
            List<UV> userValues = new ArrayList<>();
            from.visitBucket(
                    entries,
                    i,
                    buckets,
                    entries.keyHash(),
                    (userKey, userValue) -> {
                        userKeys.add(userKey);
                        userValues.add(userValue);
                    });
            for (int j = 0; j < userKeys.size(); j++) {
                other.put(target, userKeys.get(j), userValues.get(j));
                rewritten = true;
            }
        }
        return rewritten;
    }

    /** False if it is small, or has elements of no length, which cannot be told from none. */
    @SuppressWarnings("unchecked") // both are layouts of the same state
    private static <V> boolean rewriteList(
            EntryReader entries,
            ListLayout<?, ?, V> from,
            ListLayout<?, ?, ?> to,
            PartitionedMap target)
            throws IOException {
        ListLayout<?, ?, V> other = (ListLayout<?, ?, V>) to;
        int elements = from.elements(entries);
        int fragments = from.parts(entries);
        if (fragments == 0) {
            return false;
        }
        int rewritten = 0;
        for (int fragment = ListLayout.HEAD; fragment < fragments; fragment++) {
            List<V> some = new ArrayList<>();
            from.readFragment(entries, fragment, some);
            for (V element : some) {
                other.add(target, element);
            }
            rewritten += some.size();
        }
        return rewritten == elements;
    }
}
