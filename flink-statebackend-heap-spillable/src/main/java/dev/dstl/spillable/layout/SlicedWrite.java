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

/**
 * Copies a large state from the heap to its spilled form, a slice at a time. The state on the heap
 * is what counts, and may change, until the copy is finished: its parts lie in the map without a
 * head, so that nobody finds them. Task thread only.
 *
 * <p>An entry whose state is replaced or removed needs another copy; the parts of the first are to
 * be removed.
 */
public interface SlicedWrite<S> {

    /**
     * Copies some more. The layout has the entry selected.
     *
     * @param state as it is now
     * @param slices of the state to copy at most; of about a dozen elements or some KiB each
     * @return whether all that the state has now is copied
     * @throws IOException if an element cannot be serialized
     */
    boolean write(PartitionedMap map, S state, int slices) throws IOException;

    /**
     * A user key of a map was set or removed since the copy began.
     *
     * @return number of such user keys that the next slice copies again
     */
    int changed(Object userKey);

    /**
     * Lets the entry be found, after the last slice. The layout has the entry selected.
     *
     * @throws IOException if the head cannot be written
     */
    void finish(PartitionedMap map) throws IOException;

    /** Number from which on the entry has no parts, whether the copy is finished or not. */
    int parts();
}
