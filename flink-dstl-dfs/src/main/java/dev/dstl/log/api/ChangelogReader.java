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

package dev.dstl.log.api;

import java.io.IOException;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogHandleReader;

/** Reads records as views, without creating an object and an array per record. */
public interface ChangelogReader
        extends StateChangelogHandleReader<ChangelogStateHandleStreamImpl> {

    /**
     * Opens a cursor over those records of a handle whose key group is in the handle's range, and
     * over the records without a key group.
     *
     * @return a cursor that the caller must close
     * @throws IOException if a segment is missing or corrupt, or was not written by a known storage
     */
    RecordCursor open(ChangelogStateHandleStreamImpl handle) throws IOException;

    /**
     * Opens a cursor as {@link #open(ChangelogStateHandleStreamImpl)} does, and reports retries.
     *
     * @param whenRetried called on the reading thread before a failed or hanging read is retried
     * @return a cursor that the caller must close
     * @throws IOException if a segment is missing or corrupt, or was not written by a known storage
     */
    RecordCursor open(ChangelogStateHandleStreamImpl handle, Runnable whenRetried)
            throws IOException;

    /**
     * Returns what opens the other files of the checkpoint.
     *
     * @param whenRetried called on the reading thread before a failed, hanging or slow read is
     *     retried
     */
    RestoredFiles files(Runnable whenRetried);

    /**
     * Returns the memory from which a caller must reserve before it buffers records that are not
     * replayed yet.
     */
    ReplayMemory memory();
}
