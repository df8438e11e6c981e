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
 * Truncates a changelog up to the position before which no later checkpoint needs it: the lower of
 * the positions covered by the base and by checkpoints. A complete checkpoint covers what is before
 * its changelog, a subsumed one its own changelog too. Before the first checkpoint the base alone
 * decides, so that the changelog of a job without checkpoints stays short. Used by the task thread.
 */
public final class LogTruncation {

    private final StateChangelogWriter<?> writer;
    private SequenceNumber materializedTo;
    private SequenceNumber coveredTo;
    private SequenceNumber truncatedTo;
    private boolean checkpointed;

    /** Creates a truncation; the {@code writer} stays the caller's. */
    public LogTruncation(StateChangelogWriter<?> writer) {
        this.writer = writer;
        this.materializedTo = writer.initialSequenceNumber();
        this.coveredTo = writer.initialSequenceNumber();
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
        coveredTo = larger(coveredTo, to);
        truncate();
    }

    /**
     * Reports that a checkpoint is complete whose changelog begins at {@code from}. The JobManager
     * may retain earlier ones; the writer must not delete what was persisted for them.
     */
    public void confirmed(SequenceNumber from) {
        coveredTo = larger(coveredTo, from);
        truncate();
    }

    private void truncate() {
        boolean byBase = !checkpointed || materializedTo.compareTo(coveredTo) < 0;
        SequenceNumber to = byBase ? materializedTo : coveredTo;
        if (to.compareTo(truncatedTo) > 0) {
            writer.truncate(to);
            truncatedTo = to;
        }
    }

    private static SequenceNumber larger(SequenceNumber a, SequenceNumber b) {
        return a.compareTo(b) < 0 ? b : a;
    }
}
