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
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;

/**
 * Copies a large list from its head and its fragments, one after the other. Elements that are added
 * meanwhile lie behind those that are there.
 */
final class ListRead<V> implements SlicedRead<List<V>> {

    private final ListLayout<?, ?, V> layout;
    private final Allocation<List<V>> allocation = new Allocation<>();
    @Nullable private List<V> target;

    /** The fragment to read next; no other than the last one gets more elements. */
    private int fragment = ListLayout.HEAD;

    ListRead(ListLayout<?, ?, V> layout) {
        this.layout = layout;
    }

    @Override
    @Nullable
    public List<V> read(EntryReader entries, int slices) throws IOException {
        if (fragment == ListLayout.HEAD) {
            int elements = layout.elements(entries);
            target = allocation.get(elements, () -> new ArrayList<>(elements));
            if (target == null) {
                return null;
            }
        }
        int fragments = layout.parts(entries);
        for (int i = 0; i < slices && fragment < fragments; i++) {
            layout.readFragment(entries, fragment, target);
            if (fragment == fragments - 1) {
                // Elements of no length cannot be told from none.
                return target.size() == layout.elements(entries) ? target : layout.read(entries);
            }
            fragment++;
        }
        return null;
    }

    @Override
    public int changed(Object userKey) {
        throw new IllegalStateException("A list has no user keys");
    }
}
