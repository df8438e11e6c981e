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

/**
 * The bytes of a segment file. Numbers are big endian; {@code varint} as in {@link
 * dev.dstl.log.api.RecordFormat}, {@code varlong} the same for up to ten bytes. Everything a reader
 * needs to check and decode a frame lies in the frame, so that reading one from its offset costs
 * one request to the store; the file's own header is read when that fails, and shows whether the
 * file is foreign, of another version, or damaged.
 *
 * <pre>
 *   file       header | frame ... | directory entry ... | tail
 *
 *   header     8 magic "DSTL.SEG"
 *              4 version
 *
 *   frame      4 magic "DSTF"                                      one per batch
 *              4 version
 *             16 log id
 *              8 sequence number
 *              4 first key group of the writer                     [from, to)
 *              4 end of the writer's key groups
 *              8 plain bytes: all records before compression
 *              8 stored bytes: all blocks as they lie in the file
 *              4 block bytes: plain bytes of each block, less in the last
 *              4 key groups in the index
 *              4 index bytes
 *              4 CRC32C of the index
 *              4 CRC32C of the frame up to here
 *                index
 *                block ...
 *
 *   index      per key group, ascending:  varint   key group + 1; 0, the first, has no key group
 *                                         varint   records, at least one
 *                                         varlong  plain bytes
 *              per block, in order:       1        codec, see {@link SegmentCodec}
 *                                         varint   stored bytes
 *                                         4        CRC32C of the stored bytes
 *
 *   plain      per record, by key group and in the order of writing within it:
 *                                         varint   record length
 *                                                  record, see {@link
 *                                                  dev.dstl.log.api.RecordFormat}
 *
 *   directory entry                       one per frame, in order
 *             16 log id
 *              8 sequence number
 *              8 offset of the frame in the file
 *              8 length of the frame
 *
 *   tail       8 offset of the directory in the file
 *              4 frames
 *              4 CRC32C of the directory and of the tail up to here
 *              8 magic "DSTL.END"
 * </pre>
 *
 * <p>Block {@code n} holds the plain bytes {@code [n * block bytes, (n + 1) * block bytes)}: key
 * groups and records cross from block to block. So small key groups share a block, which compresses
 * them together, and a reader that wants some key groups reads the blocks these lie in and no
 * other.
 */
final class SegmentFormat {

    static final int VERSION = 1;

    /** "DSTL.SEG". */
    static final long MAGIC = 0x4453_544C_2E53_4547L;

    /** "DSTL.END". */
    static final long TAIL_MAGIC = 0x4453_544C_2E45_4E44L;

    /** "DSTF". */
    static final int FRAME_MAGIC = 0x4453_5446;

    static final int HEADER_BYTES = 12;
    static final int FRAME_HEADER_BYTES = 76;
    static final int DIRECTORY_ENTRY_BYTES = 40;
    static final int TAIL_BYTES = 24;

    /** Four times the window of LZ4; larger blocks hardly compress better. */
    static final int BLOCK_BYTES = 1 << 18;

    /** Largest block that a reader accepts. */
    static final int MAX_BLOCK_BYTES = 1 << 24;

    private SegmentFormat() {}
}
