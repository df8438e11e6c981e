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

/**
 * Layout of the file that says which sealed partitions a checkpoint has, and what was put and
 * removed since they were sealed. Big endian. Behind magic and version come blocks with checksums,
 * see {@link BlockOutput}, which have:
 *
 * <pre>
 *   offsets   first key group 4 | n 4 | n x offset of a key group in the file with heap entries 8
 *   heap      bytes of that file 8 | n 4 | n x CRC32C of 64 KiB of it 4     from version 2 on
 *   files     n 4 | n x name UTF
 *   maps      n 4 | n x map
 *   changes   per map, in the same order: ( kind 1 | entry, see {@link
 *             dev.dstl.spillable.partition.EntryFormat} ) ... | 0 1
 *
 *   kind        1 put; from version 3 on, of a key that no sealed partition has
 *               2 removed
 *               3 put, of a key that a sealed partition has                 from version 3 on
 *
 *   map         name of the state UTF | key group 4 | seed of the hash 8 | entries without parts 4
 *               | bytes of entries 8 | n 4 | n x partition
 *   partition   depth 1 | first hash 4 | file 4, -1 if nothing is sealed
 *               | offset in the file 8 | length 4 | CRC32C 4 | state id 4        unless -1
 * </pre>
 *
 * The partitions of a map are in the order of their hashes and cover all hashes. A file with
 * partitions has nothing but them.
 *
 * <p>The version also covers what entries have, here and in partitions, whose own version is that
 * of their frame: keys, parts, lists and maps as the classes of {@code dev.dstl.spillable.layout}
 * write them, the buckets into which {@link dev.dstl.spillable.partition.KeyHash} puts user keys,
 * and the names of {@link CheckpointFiles}. GoldenCheckpointTest restores a checkpoint with all of
 * them. A directory refers to partitions that an older release has sealed, so a version that
 * changes what entries have must tell those apart, or not share them.
 *
 * <p>Magic and version are in no checksum. A version that is not the one that was written makes the
 * rest unreadable, which is reported as such, but for 2 in place of 3: version 3 can be read so.
 */
final class DirectoryFormat {

    /** "DSTLDIRS". */
    static final long MAGIC = 0x4453544C44495253L;

    static final int VERSION = 3;

    /** Without checksums of the file with heap entries. */
    static final int OLDEST_VERSION = 1;

    /** The first version that says whether a sealed partition has a key that was put. */
    static final int FIRST_WITH_COVERING = 3;

    /** Bytes of magic and version. */
    static final int HEADER_BYTES = 12;

    static final int NO_FILE = -1;

    static final int END = 0;
    static final int PUT = 1;
    static final int REMOVED = 2;
    static final int PUT_COVERING = 3;

    private DirectoryFormat() {}
}
