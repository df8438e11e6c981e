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

package dev.dstl.log;

import dev.dstl.log.api.ChangelogReader;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.replay.RestoreMemory;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageView;

/**
 * The reading side of the changelog storage. Flink creates one view per job and TaskManager, by the
 * identifier of the first handle, and then passes it handles of every identifier. The view reads
 * handles of DSTL and rejects others with a message that names their storage. Thread-safe.
 */
public final class DstlStorageView
        implements StateChangelogStorageView<ChangelogStateHandleStreamImpl> {

    @Nullable private final RestoreMemory memory;

    /**
     * Creates a view. Starts no thread.
     *
     * @param memory for data that is fetched and not yet replayed; null disables read-ahead
     */
    public DstlStorageView(@Nullable RestoreMemory memory) {
        this.memory = memory;
    }

    @Override
    public ChangelogReader createReader() {
        return new DstlHandleReader(memory);
    }

    @Override
    public void close() {}
}
