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

package dev.dstl.spillable.incremental;

import java.util.zip.CRC32C;

/**
 * Length of a file and the CRC32C of each {@value #BLOCK_BYTES} bytes of it, which lie in another
 * file: this one keeps the format it has.
 */
final class FileChecksums {

    static final int BLOCK_BYTES = 64 << 10;

    final long length;

    /** In the order of the blocks, of which the last one may be shorter. */
    final int[] blocks;

    FileChecksums(long length, int[] blocks) {
        this.length = length;
        this.blocks = blocks;
    }

    /** Number of blocks of a file. */
    static long blockCount(long length) {
        return (length + BLOCK_BYTES - 1) / BLOCK_BYTES;
    }

    static int checksum(byte[] block, int length) {
        CRC32C crc = new CRC32C();
        crc.update(block, 0, length);
        return (int) crc.getValue();
    }
}
