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

import org.apache.flink.configuration.NettyShuffleEnvironmentOptions.CompressionCodec;
import org.apache.flink.runtime.io.compression.BlockCompressionFactory;
import org.apache.flink.runtime.io.compression.BlockCompressor;
import org.apache.flink.runtime.io.compression.BlockDecompressor;

/**
 * Compression of a segment's blocks. Each block names its codec; a block that does not shrink is
 * stored as {@link #NONE}. The codes are part of the format and never change; a new one requires a
 * new {@link SegmentFormat#VERSION}, since older releases refuse the block only when they reach it.
 */
public enum SegmentCodec {
    /** Uncompressed. */
    NONE(0),
    /** LZ4 as Flink frames it: compressed and plain length, little endian, then one LZ4 block. */
    LZ4(1);

    private final byte code;

    SegmentCodec(int code) {
        this.code = (byte) code;
    }

    /** Returns the byte that represents this codec in an index. */
    byte code() {
        return code;
    }

    static BlockCompressor lz4Compressor() {
        return lz4().getCompressor();
    }

    static BlockDecompressor lz4Decompressor() {
        return lz4().getDecompressor();
    }

    private static BlockCompressionFactory lz4() {
        return BlockCompressionFactory.createBlockCompressionFactory(CompressionCodec.LZ4);
    }
}
