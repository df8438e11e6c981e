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
import dev.dstl.log.replay.ReadAheadBudget;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageView;

/**
 * The reading side of the storage. Flink creates one view per job and TaskManager, by the
 * identifier of the first handle, and then passes it handles of every identifier. It reads the
 * handles of DSTL and rejects others by name. Thread safe.
 */
public final class DstlStorageView
        implements StateChangelogStorageView<ChangelogStateHandleStreamImpl> {

    @Nullable private final ReadAheadBudget readAhead;

    /**
     * @param readAheadBytes how much of their logs all tasks of the view may hold fetched and not
     *     yet read; 0 to fetch nothing ahead
     */
    public DstlStorageView(long readAheadBytes) {
        this.readAhead = readAheadBytes == 0 ? null : new ReadAheadBudget(readAheadBytes);
    }

    @Override
    public ChangelogReader createReader() {
        return new DstlHandleReader(readAhead);
    }

    @Override
    public void close() {}
}
