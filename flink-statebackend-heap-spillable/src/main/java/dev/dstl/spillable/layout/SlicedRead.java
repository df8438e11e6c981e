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

/**
 * Copies a large state from its spilled form to the heap, a slice at a time. The spilled state is
 * what counts, and may change, until the copy is complete. Task thread only.
 *
 * <p>An entry whose state is replaced or removed needs another copy.
 */
public interface SlicedRead<S> {

    /**
     * Copies some more, or nothing while the memory for it is allocated. The layout has the entry
     * selected.
     *
     * @param slices of the state to copy at most, of about a dozen elements or some KiB each
     * @return the state if all that it has now is copied, else null
     * @throws IOException if an element cannot be deserialized
     */
    S read(EntryReader entries, int slices) throws IOException;

    /**
     * A user key of a map was set or removed since the copy began.
     *
     * @return number of such user keys that the next slice copies again
     */
    int changed(Object userKey);
}
