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

import dev.dstl.log.record.RecordCursor;
import java.io.IOException;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;

/**
 * Reads the segments of a handle one after the other. Thread safe: every call opens its own
 * streams.
 */
public final class DstlHandleReader implements MutationLogReader {

    /** The storage identifier of handles that this project writes. */
    public static final String STORAGE_IDENTIFIER = "dstl";

    @Override
    public RecordCursor open(ChangelogStateHandleStreamImpl handle) throws IOException {
        throw new UnsupportedOperationException();
    }

    @Override
    public CloseableIterator<StateChange> getChanges(ChangelogStateHandleStreamImpl handle)
            throws IOException {
        throw new UnsupportedOperationException();
    }
}
