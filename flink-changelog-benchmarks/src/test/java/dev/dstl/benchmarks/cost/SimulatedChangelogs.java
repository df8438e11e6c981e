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

package dev.dstl.benchmarks.cost;

import dev.dstl.log.testing.FaultyStore;
import java.io.IOException;
import java.util.concurrent.Future;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/** The changelogs of one TaskManager, on a store that counts requests and answers at once. */
interface SimulatedChangelogs extends AutoCloseable {

    /** Returns the store of the changelogs. */
    FaultyStore store();

    /** Returns the writer of a changelog. */
    StateChangelogWriter<ChangelogStateHandleStreamImpl> writer(int changelog);

    /**
     * Appends a change of a key.
     *
     * @param change key and namespace, of {@link CostWorkload#RECORD_KEY_BYTES} bytes, and the
     *     value
     */
    void append(int changelog, int keyGroup, byte[] change) throws Exception;

    /** Begins a materialization of a changelog up to the current position. */
    SequenceNumber materialize(int changelog);

    /** Advances time. */
    void pass(long millis);

    /**
     * Returns the handle of a checkpoint; null if it is empty. All changelogs must have persisted.
     */
    ChangelogStateHandleStreamImpl await(
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist) throws Exception;

    @Override
    void close() throws IOException;
}
