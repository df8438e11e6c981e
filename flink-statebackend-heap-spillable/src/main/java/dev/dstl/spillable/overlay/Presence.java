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

package dev.dstl.spillable.overlay;

import javax.annotation.Nullable;

/**
 * What the last search for one key has found, so that a read and the write that follows it search
 * once. Belongs to whoever selects keys, who forgets it with the key.
 */
public final class Presence {

    @Nullable EntryReader reader;

    /** Changes of the reader's map when the search was made. */
    long changes;

    long address;

    int activeCell;

    int directoryIndex;

    /** Another key is selected. */
    public void forget() {
        reader = null;
    }
}
