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

import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import java.util.List;

/** Copies a large list to fragments, one after the other. Elements may be added meanwhile. */
final class ListWrite<V> implements SlicedWrite<List<V>> {

    private static final int FRAGMENT_BYTES = 1024;

    private final ListLayout<?, ?, V> layout;
    private int elements;
    private int fragments;
    private int mostFragments;

    ListWrite(ListLayout<?, ?, V> layout) {
        this.layout = layout;
    }

    @Override
    public boolean write(PartitionedMap map, List<V> state, int slices) throws IOException {
        if (state.size() < elements) {
            elements = 0;
            fragments = 0;
        }
        for (int i = 0; i < slices && elements < state.size(); i++) {
            elements = layout.copyFragment(map, fragments++, state, elements, FRAGMENT_BYTES);
            mostFragments = Math.max(mostFragments, fragments);
        }
        return elements == state.size();
    }

    @Override
    public int changed(Object userKey) {
        throw new IllegalStateException("A list has no user keys");
    }

    @Override
    public void finish(PartitionedMap map) throws IOException {
        layout.finishCopied(map, elements, fragments);
    }

    @Override
    public int parts() {
        return mostFragments;
    }
}
