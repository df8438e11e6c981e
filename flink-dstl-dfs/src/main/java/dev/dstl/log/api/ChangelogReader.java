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

/** A reader that returns records as views, without an object and an array per record. */
public interface ChangelogReader
        extends StateChangelogHandleReader<ChangelogStateHandleStreamImpl> {

    /**
     * Opens the records of a handle that lie in the handle's key groups, and those of no key group.
     *
     * @return to be closed by the caller
     * @throws IOException if a segment is missing, damaged or foreign
     */
    RecordCursor open(ChangelogStateHandleStreamImpl handle) throws IOException;

    /**
     * As {@link #open(ChangelogStateHandleStreamImpl)}.
     *
     * @param whenRetried called before a read that failed or hangs is tried again, on the thread
     *     that reads
     */
    RecordCursor open(ChangelogStateHandleStreamImpl handle, Runnable whenRetried)
            throws IOException;

    /** Who reads asks this for memory before it keeps records that are not replayed yet. */
    ReplayMemory memory();
}
