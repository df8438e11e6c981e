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

package dev.dstl.spillable.partition;

/**
 * Layout of a partition in a file. Little endian; offsets are from its start, which is a multiple
 * of {@value #PAGE_BYTES} in the file.
 *
 * <pre>
 *   page 0      +------------------------------------------------------------------+
 *             0 | magic 8 | version 4 | cellBytes 4                                |
 *            16 | id 16                                                            |
 *            32 | seed of the hash 8 | stateId 4 | keyGroup 4                      |
 *            48 | first hash 4 | depth 4 | entries 4 | parts 4                     |
 *            64 | homes 4 | cells 4 | length 4 | CRC32C of the header, this left 0 |
 *            80 | CRC32C of each page 4 ...                                        |
 *               +------------------------------------------------------------------+
 *     dataStart | cell | cell | cell | ...                                         |
 *   page 1      | cell | cell | ...                                                |
 *               |                  | entry | entry | ...    longer than a cell     |
 *               +------------------------------------------------------------------+ length
 *
 *   cell        +--------+-----------------------------------+
 *               |      0 | 1                                 |   empty
 *               | hash 4 | entry, see {@link EntryFormat}           |
 *               | hash 4 | 2 | 0 0 0 | offset of the entry 4 |
 *               +--------+-----------------------------------+
 * </pre>
 *
 * The hashes of a partition share their top {@code depth} bits. Cells are ordered by hash,
 * unsigned. An entry lies in its home, {@code (hash << depth) * homes >>> 32}, or, if others are
 * there, in the next free cell; the last cell is empty. So a search ends at an empty cell or at a
 * larger hash, and entries of equal hashes, however many, lie side by side. No cell is all zeros,
 * so a page that was lost is noticed by whoever reads it, checked or not.
 *
 * <p>The checksum of a page covers what of it is not header. The checksum of the header covers all
 * bytes before {@code dataStart}, those of the pages included.
 */
final class PartitionFormat {

    /** "DSTLPART". */
    static final long MAGIC = 0x545241504C545344L;

    static final int VERSION = 1;

    static final int PAGE_BYTES = 4096;
    static final int PAGE_SHIFT = 12;

    static final int MAGIC_AT = 0;
    static final int VERSION_AT = 8;
    static final int CELL_BYTES_AT = 12;
    static final int ID_AT = 16;
    static final int SEED_AT = 32;
    static final int STATE_ID_AT = 40;
    static final int KEY_GROUP_AT = 44;
    static final int FIRST_HASH_AT = 48;
    static final int DEPTH_AT = 52;
    static final int ENTRIES_AT = 56;
    static final int PARTS_AT = 60;
    static final int HOMES_AT = 64;
    static final int CELLS_AT = 68;
    static final int LENGTH_AT = 72;
    static final int HEADER_CRC_AT = 76;
    static final int PAGE_CRCS_AT = 80;

    static final int CELL_ENTRY_AT = 4;
    static final int EMPTY = 1;
    static final int OUTSIDE = 2;
    static final int CELL_OFFSET_AT = 8;

    private PartitionFormat() {}

    static int pages(long length) {
        return (int) ((length + PAGE_BYTES - 1) >>> PAGE_SHIFT);
    }

    /** Where cells start in a partition with {@code dataBytes} of cells and entries. */
    static int dataStart(long dataBytes) {
        int start = PAGE_CRCS_AT;
        // The table of checksums covers itself, so its length needs a second look.
        for (int i = 0; i < 3; i++) {
            long table = PAGE_CRCS_AT + 4L * pages(start + dataBytes);
            start = (int) ((table + CellSizes.LARGEST - 1) & -CellSizes.LARGEST);
        }
        return start;
    }

    static int home(int hash, int depth, int homes) {
        return (int) ((((hash << depth) & 0xFFFFFFFFL) * homes) >>> 32);
    }
}
