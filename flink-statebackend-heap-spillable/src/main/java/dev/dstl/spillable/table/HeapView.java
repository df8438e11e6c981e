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

package dev.dstl.spillable.table;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The entries of a {@link HeapMap} as they were when the view was opened. Read by one thread; what
 * it holds is garbage as soon as it is closed.
 */
final class HeapView<K, N, S> {

    private final HeapViews views;
    private final int version;
    private final int size;
    private HeapEntry<K, N, S>[][] buckets;

    HeapView(HeapViews views, HeapEntry<K, N, S>[][] buckets, int size) {
        this.views = views;
        this.version = views.open();
        this.buckets = buckets;
        this.size = size;
    }

    int size() {
        return size;
    }

    void forEach(Consumer<? super HeapEntry<K, N, S>> consumer) {
        HeapEntry<K, N, S>[] previous = null;
        for (HeapEntry<K, N, S>[] table : buckets) {
            if (table != previous) {
                for (HeapEntry<K, N, S> chain : table) {
                    for (HeapEntry<K, N, S> e = chain; e != null; e = e.next) {
                        consumer.accept(e);
                    }
                }
            }
            previous = table;
        }
    }

    List<HeapEntry<K, N, S>> entries() {
        List<HeapEntry<K, N, S>> entries = new ArrayList<>(size);
        forEach(entries::add);
        return entries;
    }

    void close() {
        buckets = null;
        views.close(version);
    }
}
