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
import dev.dstl.log.api.RestoredFiles;
import dev.dstl.log.segment.ReadSession;
import dev.dstl.log.segment.RetriedFiles;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;

/**
 * Reads the segments of a handle in order, those of DSTL and of Flink's storage {@code filesystem}.
 * Thread-safe: every call opens its own streams, and none before the first record is read.
 */
public final class DstlHandleReader implements ChangelogReader {

    /** Storage identifier of the handles that DSTL writes. */
    public static final String STORAGE_IDENTIFIER = "dstl";

    @Nullable private final ReplayMemory budget;

    /** Creates a reader that reads each segment on the calling thread when it is needed. */
    public DstlHandleReader() {
        this(null);
    }

    /**
     * Creates a reader that fetches segments ahead on threads of its own.
     *
     * @param budget memory limit, shared with other readers; null disables read-ahead
     */
    public DstlHandleReader(@Nullable ReplayMemory budget) {
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
     * Opens a cursor as {@link #open(ChangelogStateHandleStreamImpl)} does. Another thread can
     * abandon the reads through {@code session}, but not those of segments of Flink's built-in
     * changelog.
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
                ahead ? new ReadAhead(handle, budget, session) : new FrameByFrame(handle, session),
                handle.getKeyGroupRange());
    }

    @Override
    public RestoredFiles files(Runnable whenRetried) {
        return new RetriedFiles(whenRetried);
    }

    @Override
    public ReplayMemory memory() {
        return budget == null ? ReplayMemory.NONE : budget;
    }

    /**
     * Returns the records of a handle as state changes: for an OPAQUE record its payload, for any
     * other the whole record in the layout of {@link dev.dstl.log.api.RecordFormat}. A read failure
     * during iteration is thrown as {@link java.io.UncheckedIOException}.
     */
    @Override
    public CloseableIterator<StateChange> getChanges(ChangelogStateHandleStreamImpl handle)
            throws IOException {
        return new StateChangeIterator(open(handle));
    }
}
