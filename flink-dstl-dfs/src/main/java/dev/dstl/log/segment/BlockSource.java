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

    /** Reads {@code [offset, offset + count)} of the file into the beginning of {@code target}. */
    void read(long offset, byte[] target, int count, String what) throws IOException;

    /** Compares the checksum of the first {@code count} bytes, which lie at {@code offset}. */
    void verify(long offset, String what, byte[] bytes, int count, int expected)
            throws CorruptSegmentException;

    /** A failure that names the file. */
    CorruptSegmentException damaged(long offset, String expected, String found);
}
