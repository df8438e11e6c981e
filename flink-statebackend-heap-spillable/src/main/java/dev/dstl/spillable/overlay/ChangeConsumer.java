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

import java.io.IOException;
import org.apache.flink.core.memory.MemorySegment;

/** Takes puts and removals that are not sealed yet. */
public interface ChangeConsumer {

    /**
     * @param segment has the entry, see {@link dev.dstl.spillable.partition.EntryFormat}
     * @param entry where it starts in {@code segment}
     * @param removed whether the key was removed; the value of the entry means nothing then
     * @param covers whether the sealed partition has the key; always if it was removed
     * @throws IOException passed on to whoever hands over
     */
    void accept(MemorySegment segment, int entry, boolean removed, boolean covers)
            throws IOException;
}
