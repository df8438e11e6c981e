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

/** Provides the blocks of a frame to a {@link FrameCursor}. Not thread-safe. */
interface BlockSource {

    /**
     * Reads a block to the start of {@code target} and verifies its checksum.
     *
     * @throws CorruptSegmentException if the checksum does not match
     */
    void readBlock(FrameHeader frame, int block, byte[] target) throws IOException;

    /** Creates an exception that names the file. */
    CorruptSegmentException damaged(long offset, String expected, String found);

    /** Creates an exception that names the file, for a code that this release does not know. */
    CorruptSegmentException unknownCode(long offset, String expected, String found);
}
