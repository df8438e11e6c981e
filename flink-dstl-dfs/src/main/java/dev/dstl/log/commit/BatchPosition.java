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

import dev.dstl.log.local.LocalCopy;
import dev.dstl.log.ownership.OwnedSegment;
import dev.dstl.log.segment.RecentSegment;
import dev.dstl.log.segment.SegmentCopy;
import java.util.function.Supplier;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * The position of a batch: in a durable segment, or in a segment that travels in the handle itself.
 * Immutable.
 */
public final class BatchPosition {

    @Nullable private final OwnedSegment owner;
    private final Supplier<StreamStateHandle> segment;
    @Nullable private final LocalCopy localCopy;
    @Nullable private final RecentSegment recent;
    private final long frameOffset;
    private final long frameBytes;

    /**
     * @param owner null if the segment travels in the handle
     * @param segment makes a handle of the segment, a new one each time
     * @param localCopy null if there never will be one
     * @param recent null if the segment is never kept in memory
     */
    BatchPosition(
            @Nullable OwnedSegment owner,
            Supplier<StreamStateHandle> segment,
            @Nullable LocalCopy localCopy,
            @Nullable RecentSegment recent,
            long frameOffset,
            long frameBytes) {
        this.owner = owner;
        this.segment = segment;
        this.localCopy = localCopy;
        this.recent = recent;
        this.frameOffset = frameOffset;
        this.frameBytes = frameBytes;
    }

    /** Null if the segment travels in the handle: nobody has to delete that. */
    @Nullable
    OwnedSegment owner() {
        return owner;
    }

    /** Whether the bytes travel in the handle. */
    public boolean isInline() {
        return owner == null;
    }

    /**
     * The whole segment; equal for all batches in it, and a new object for every caller, since
     * Flink's registry of shared state complains about one that it is shown twice.
     */
    public StreamStateHandle segment() {
        return segment.get();
    }

    /** The copy of the segment on the local disk, null if there never will be one. */
    @Nullable
    public LocalCopy localCopy() {
        return localCopy;
    }

    /** The copy on the local disk if there is one now, with a way back, else {@link #segment()}. */
    public StreamStateHandle nearestSegment() {
        StreamStateHandle copy = localCopy == null ? null : localCopy.handle();
        return copy == null ? segment() : new SegmentCopy(copy, segment(), localCopy::lost);
    }

    /**
     * What this process reads: the segment as it is kept in memory, then its copy on the local
     * disk, then {@link #segment()}. Not for handles, which leave the process.
     */
    public StreamStateHandle readableSegment() {
        return recent == null ? nearestSegment() : recent.orElse(nearestSegment());
    }

    /** Where the batch's frame begins in the segment. */
    public long frameOffset() {
        return frameOffset;
    }

    /** Bytes of the frame. */
    public long frameBytes() {
        return frameBytes;
    }
}
