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

package dev.dstl.log.commit;

import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * A segment that travels in a handle instead of a file. Flink treats two such handles as equal if
 * their names are equal, so the name contains the id of the changelog and the first and last
 * sequence number, and a changelog puts each batch into one inline segment at most.
 */
final class InlineSegment {

    /** Length of a usual name and of what a handle adds to it. */
    private static final int NAME_BYTES = 64;

    /** Bytes that a batch takes in a handle in addition to its records. */
    static final int OVERHEAD_BYTES =
            SegmentEncoder.SEGMENT_OVERHEAD_BYTES
                    + SegmentEncoder.FRAME_OVERHEAD_BYTES
                    + NAME_BYTES;

    private InlineSegment() {}

    /**
     * Returns the name of a segment.
     *
     * @param batches of one changelog, ascending
     */
    static String name(List<LogBatch> batches) {
        LogBatch first = batches.get(0);
        LogBatch last = batches.get(batches.size() - 1);
        return String.format(
                "dstl-inline/%s/%d-%d", first.logId(), first.sequence(), last.sequence());
    }

    /**
     * Reports the positions of a segment's batches in their order, or a failure.
     *
     * @param segment null if encoding failed
     */
    static void report(
            BiConsumer<List<BatchPosition>, Throwable> listener,
            String name,
            @Nullable EncodedSegment segment,
            @Nullable Throwable failure) {
        List<BatchPosition> positions = null;
        Throwable cause = failure;
        try {
            positions = segment == null ? null : positions(name, segment);
        } catch (Throwable t) {
            cause = t;
        }
        listener.accept(positions, cause);
    }

    private static List<BatchPosition> positions(String name, EncodedSegment segment) {
        byte[] bytes = bytes(segment);
        List<BatchPosition> positions = new ArrayList<>(segment.frameCount());
        for (int i = 0; i < segment.frameCount(); i++) {
            positions.add(
                    new BatchPosition(
                            null,
                            () -> new ByteStreamStateHandle(name, bytes),
                            null,
                            null,
                            segment.frameOffset(i),
                            segment.frameLength(i)));
        }
        return positions;
    }

    private static byte[] bytes(EncodedSegment segment) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(Math.toIntExact(segment.length()));
        try {
            segment.writeTo(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
