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
 * The position of a batch: in a durable segment, or in a segment that travels inline in the handle.
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
     * Creates a position.
     *
     * @param owner null if the segment travels inline in the handle
     * @param segment creates a new handle of the segment at each call
     * @param localCopy null if the segment is never copied to the local disk
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

    /**
     * Returns the owner of the segment; null if it travels inline, since nobody has to delete it
     * then.
     */
    @Nullable
    OwnedSegment owner() {
        return owner;
    }

    /** Returns whether the segment travels inline in the handle. */
    public boolean isInline() {
        return owner == null;
    }

    /**
     * Returns a handle of the whole segment. Handles of all batches of a segment are equal, but
     * each call creates a new object, since Flink's registry of shared state complains if the same
     * object is registered twice.
     */
    public StreamStateHandle segment() {
        return segment.get();
    }

    /** Returns the copy of the segment on the local disk, null if it is never copied. */
    @Nullable
    public LocalCopy localCopy() {
        return localCopy;
    }

    /**
     * Returns a handle of the copy on the local disk, which falls back to the original, or {@link
     * #segment()} if there is no copy now.
     */
    public StreamStateHandle nearestSegment() {
        StreamStateHandle copy = localCopy == null ? null : localCopy.handle();
        return copy == null ? segment() : new SegmentCopy(copy, segment(), localCopy::lost);
    }

    /**
     * Returns the handle from which this process reads the segment fastest: from memory, else from
     * the local disk, else {@link #segment()}. Must not leave the process.
     */
    public StreamStateHandle readableSegment() {
        return recent == null ? nearestSegment() : recent.orElse(nearestSegment());
    }

    /** Returns the offset of the batch's frame in the segment. */
    public long frameOffset() {
        return frameOffset;
    }

    /** Returns the length of the frame in bytes. */
    public long frameBytes() {
        return frameBytes;
    }

    @Override
    public String toString() {
        return "The frame at " + frameOffset + " of " + segment();
    }
}
