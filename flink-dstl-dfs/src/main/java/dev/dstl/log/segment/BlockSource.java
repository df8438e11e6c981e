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

package dev.dstl.log.segment;

import java.io.IOException;

/** Where a {@link FrameCursor} gets the blocks of a frame from. Not thread safe. */
interface BlockSource {

    /**
     * Reads a block into the beginning of {@code target} and compares its checksum.
     *
     * @throws CorruptSegmentException if it is another one
     */
    void readBlock(FrameHeader frame, int block, byte[] target) throws IOException;

    /** A failure that names the file. */
    CorruptSegmentException damaged(long offset, String expected, String found);
}
