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

package dev.dstl.changelog.checkpoint;

import org.apache.flink.runtime.state.changelog.SequenceNumber;

/** A checkpoint of this backend: a base and the changelog range {@code [from, to)}. */
public final class LoggedCheckpoint {

    private final long checkpointId;
    private final long materializationId;
    private final SequenceNumber from;
    private final SequenceNumber to;

    LoggedCheckpoint(
            long checkpointId, long materializationId, SequenceNumber from, SequenceNumber to) {
        this.checkpointId = checkpointId;
        this.materializationId = materializationId;
        this.from = from;
        this.to = to;
    }

    /** Returns the checkpoint id. */
    public long checkpointId() {
        return checkpointId;
    }

    /** Returns the materialization id of the base. */
    public long materializationId() {
        return materializationId;
    }

    /** Returns the start of the changelog, inclusive. */
    public SequenceNumber from() {
        return from;
    }

    /** Returns the end of the changelog, exclusive. */
    public SequenceNumber to() {
        return to;
    }
}
