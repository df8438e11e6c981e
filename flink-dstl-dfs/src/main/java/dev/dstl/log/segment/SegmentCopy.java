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
import java.util.Optional;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * A local copy of a segment, and the segment itself as the fallback if the copy is missing or
 * damaged. Used in the local snapshot of a checkpoint, which Flink may write to the local disk.
 * Equal to every copy of the same segment. Immutable; owns neither.
 */
public final class SegmentCopy implements StreamStateHandle {

    private static final long serialVersionUID = 1L;

    private final StreamStateHandle copy;
    private final StreamStateHandle original;
    @Nullable private final transient Runnable whenFailed;

    /**
     * Creates a handle.
     *
     * @param whenFailed called on any thread, perhaps several times, when the copy could not be
     *     read; not serialized
     */
    public SegmentCopy(StreamStateHandle copy, StreamStateHandle original, Runnable whenFailed) {
        this.copy = copy;
        this.original = original;
        this.whenFailed = whenFailed;
    }

    /** Returns the copy, which is read first. */
    public StreamStateHandle copy() {
        return copy;
    }

    /** Returns the original, which is read if the copy cannot be. */
    public StreamStateHandle original() {
        return original;
    }

    /** Reports that the copy could not be read. */
    void failed() {
        if (whenFailed != null) {
            whenFailed.run();
        }
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        try {
            return copy.openInputStream();
        } catch (IOException gone) {
            return original.openInputStream();
        }
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
        return Optional.empty();
    }

    @Override
    public PhysicalStateHandleID getStreamStateHandleID() {
        return copy.getStreamStateHandleID();
    }

    /** Has no effect: the changelog storage deletes copies, the owner deletes the segment. */
    @Override
    public void discardState() {}

    @Override
    public long getStateSize() {
        return original.getStateSize();
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof SegmentCopy
                        && original.equals(((SegmentCopy) other).original));
    }

    @Override
    public int hashCode() {
        return original.hashCode();
    }

    @Override
    public String toString() {
        return "copy " + copy + " of " + original;
    }
}
