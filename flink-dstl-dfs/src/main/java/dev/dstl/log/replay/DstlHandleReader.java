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

package dev.dstl.log.replay;

import dev.dstl.log.api.ChangelogReader;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.ReplayMemory;
import dev.dstl.log.segment.ReadSession;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;

/**
 * Reads the segments of a handle in its order, those of DSTL and of Flink's own storage. Thread
 * safe: every call opens its own streams, and none before the first record is read.
 */
public final class DstlHandleReader implements ChangelogReader {

    /** The storage identifier of handles that this project writes. */
    public static final String STORAGE_IDENTIFIER = "dstl";

    @Nullable private final ReadAheadBudget budget;

    /** Reads each segment when it is its turn, on the calling thread. */
    public DstlHandleReader() {
        this(null);
    }

    /**
     * Fetches segments before it is their turn, on threads of its own.
     *
     * @param budget shared with other readers; null to fetch nothing ahead
     */
    public DstlHandleReader(@Nullable ReadAheadBudget budget) {
        this.budget = budget;
    }

    @Override
    public RecordCursor open(ChangelogStateHandleStreamImpl handle) throws IOException {
        return open(handle, ReadSession.ofRestore());
    }

    @Override
    public RecordCursor open(ChangelogStateHandleStreamImpl handle, Runnable whenRetried)
            throws IOException {
        return open(handle, ReadSession.ofRestore(whenRetried));
    }

    /**
     * As {@link #open(ChangelogStateHandleStreamImpl)}, with reads that can be given up by another
     * thread if they are of our segments.
     */
    public RecordCursor open(ChangelogStateHandleStreamImpl handle, ReadSession session)
            throws IOException {
        String storage = handle.getStorageIdentifier();
        if (BuiltInHandleCursor.STORAGE_IDENTIFIER.equals(storage)) {
            return new BuiltInHandleCursor(handle);
        }
        if (!STORAGE_IDENTIFIER.equals(storage)) {
            throw new IOException(
                    String.format(
                            "The checkpoint's changelog was written by the storage '%s', but is"
                                    + " read with '%s', which cannot read it. Restore with the"
                                    + " release that wrote the checkpoint, take a savepoint, and"
                                    + " start from that.",
                            storage, STORAGE_IDENTIFIER));
        }
        boolean ahead = budget != null && handle.getHandlesAndOffsets().size() > 1;
        return new HandleCursor(
                ahead ? new ReadAhead(handle, budget, session) : new FrameByFrame(handle, session));
    }

    @Override
    public ReplayMemory memory() {
        return budget == null ? ReplayMemory.NONE : budget;
    }

    /**
     * Gives the records of a handle as state changes: of an OPAQUE record its payload, of any other
     * the whole record as {@link dev.dstl.log.api.RecordFormat} draws it. While iterating, a
     * failure to read comes as {@link java.io.UncheckedIOException}.
     */
    @Override
    public CloseableIterator<StateChange> getChanges(ChangelogStateHandleStreamImpl handle)
            throws IOException {
        return new StateChangeIterator(open(handle));
    }
}
