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

package dev.dstl.changelog.materialization;

import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * Truncates a changelog up to the position that no checkpoint needs any more: the lower of the
 * positions covered by the base and by the newest subsumed checkpoint. Before the first checkpoint
 * the base alone decides, so that the changelog of a job without checkpoints stays short. Used by
 * the task thread.
 */
public final class LogTruncation {

    private final StateChangelogWriter<?> writer;
    private SequenceNumber materializedTo;
    private SequenceNumber subsumedTo;
    private SequenceNumber truncatedTo;
    private boolean checkpointed;

    /** Creates a truncation; the {@code writer} stays the caller's. */
    public LogTruncation(StateChangelogWriter<?> writer) {
        this.writer = writer;
        this.materializedTo = writer.initialSequenceNumber();
        this.subsumedTo = writer.initialSequenceNumber();
        this.truncatedTo = writer.initialSequenceNumber();
    }

    /** Reports that the base covers the changelog up to {@code to}, exclusive. */
    public void materialized(SequenceNumber to) {
        materializedTo = larger(materializedTo, to);
        truncate();
    }

    /** Reports that a checkpoint begins. */
    public void checkpointBegun() {
        checkpointed = true;
    }

    /** Returns whether a checkpoint has begun. */
    boolean hasCheckpoint() {
        return checkpointed;
    }

    /** Reports that a checkpoint was subsumed whose changelog ends at {@code to}, exclusive. */
    public void subsumed(SequenceNumber to) {
        subsumedTo = larger(subsumedTo, to);
        truncate();
    }

    private void truncate() {
        boolean byBase = !checkpointed || materializedTo.compareTo(subsumedTo) < 0;
        SequenceNumber to = byBase ? materializedTo : subsumedTo;
        if (to.compareTo(truncatedTo) > 0) {
            writer.truncate(to);
            truncatedTo = to;
        }
    }

    private static SequenceNumber larger(SequenceNumber a, SequenceNumber b) {
        return a.compareTo(b) < 0 ? b : a;
    }
}
