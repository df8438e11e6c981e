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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.api.TestRecord;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The snapshot of one task in one checkpoint: a base, the changelog since, and the expected state.
 */
public final class TaskSnapshot {

    private final KeyGroupRange keyGroups;
    private final KeyedState base;
    private final List<LogHandle> log;
    private final KeyedState expected;
    @Nullable private final LocalSnapshot local;
    @Nullable private final LogHandle own;
    @Nullable private final CompactionBounds compactionBounds;

    TaskSnapshot(
            KeyGroupRange keyGroups,
            KeyedState base,
            List<LogHandle> log,
            KeyedState expected,
            @Nullable LocalSnapshot local,
            @Nullable LogHandle own,
            @Nullable CompactionBounds compactionBounds) {
        this.local = local;
        this.own = own;
        this.compactionBounds = compactionBounds;
        this.keyGroups = keyGroups;
        this.base = base;
        this.log = log;
        this.expected = expected;
    }

    KeyGroupRange keyGroups() {
        return keyGroups;
    }

    public List<LogHandle> log() {
        return log;
    }

    /** Changelogs as a task restores them, from the local copies of its changelog if possible. */
    List<LogHandle> logFor(SimulatedLog restoring) {
        return local != null && local.isOf(restoring) ? local.parts() : log;
    }

    /** Part that a subtask with these key groups restores. */
    TaskSnapshot in(KeyGroupRange part) {
        List<LogHandle> parts = new ArrayList<>();
        for (LogHandle piece : log) {
            LogHandle narrowed = piece.in(part);
            if (narrowed != null) {
                parts.add(narrowed);
            }
        }
        return new TaskSnapshot(
                keyGroups.getIntersection(part),
                base.in(part),
                parts,
                expected.in(part),
                part.equals(keyGroups) ? local : null,
                null,
                null);
    }

    /** Changelog that the task has written itself; null if there is none. */
    @Nullable
    public LogHandle own() {
        return own;
    }

    /** Bounds of compaction of that changelog; null if there is none. */
    @Nullable
    public CompactionBounds compactionBounds() {
        return compactionBounds;
    }

    /** Part that could be restored without the store; null if there is none. */
    @Nullable
    public LocalSnapshot local() {
        return local;
    }

    KeyedState base() {
        return base;
    }

    /**
     * Reads the changelog through the real reader and applies it to the base.
     *
     * @throws IOException if the store does not let it be read
     * @throws LogMismatch if the result is not the state that was checkpointed
     */
    public void verify() throws IOException {
        verify(log);
    }

    /** Verifies the content, read from the local disk where possible. */
    void verifyOn(SimulatedTaskManager taskManager) throws IOException {
        if (local != null && local.isOn(taskManager)) {
            try {
                verify(local.parts());
                return;
            } catch (IOException damaged) {
                // As Flink does: the remote state is the alternative.
            }
        }
        verify(log);
    }

    private void verify(List<LogHandle> parts) throws IOException {
        KeyedState state = base.copy();
        for (LogHandle part : parts) {
            for (TestRecord record : part.read()) {
                state.apply(record);
            }
        }
        if (!state.equals(expected)) {
            throw new LogMismatch("(replayed against model)", state.differenceTo(expected));
        }
    }

    KeyedState expected() {
        return expected;
    }
}
