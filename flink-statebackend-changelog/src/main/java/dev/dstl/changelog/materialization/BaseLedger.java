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

import static org.apache.flink.util.Preconditions.checkState;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Which base is current, which ids are taken, and what the delegate may build its next snapshot on.
 * Belongs to the task thread.
 */
public final class BaseLedger {

    private MaterializedBase current;

    /** Of the current base; the restored one is the JobManager's already. */
    private AtomicInteger deliveries = new AtomicInteger(1);

    private boolean fullSnapshotNeeded;
    private long confirmedId;
    private long nextId;

    /**
     * @param restored the base of the restored checkpoint; its id is not less than any id that the
     *     delegate saw before
     * @param fullSnapshotNeeded whether the restored base must not be part of a new checkpoint
     */
    public BaseLedger(MaterializedBase restored, boolean fullSnapshotNeeded) {
        this.current = restored;
        this.fullSnapshotNeeded = fullSnapshotNeeded;
        this.confirmedId = restored.id();
        this.nextId = restored.id() + 1;
    }

    /** The current base. */
    public MaterializedBase current() {
        return current;
    }

    /** The current base for a checkpoint, which from then on owns its files with others. */
    public BaseDelivery handOut() {
        return new BaseDelivery(deliveries);
    }

    /** The current base if no checkpoint was sent with it, so that nobody else will discard it. */
    public Optional<MaterializedBase> unsent() {
        return deliveries.get() == 0 ? Optional.of(current) : Optional.empty();
    }

    /** An id that the delegate never saw. */
    public long takeId() {
        return nextId++;
    }

    /** The newest snapshot that the delegate was told is complete. */
    public long confirmedId() {
        return confirmedId;
    }

    /**
     * Notes that a checkpoint that contains a snapshot of the delegate is complete.
     *
     * @return whether the delegate does not know yet
     */
    public boolean confirm(long id) {
        if (id <= confirmedId) {
            return false;
        }
        confirmedId = id;
        return true;
    }

    /**
     * Whether the delegate may take a snapshot that shares files with the newest confirmed one. The
     * JobManager keeps a file only as long as every checkpoint in between refers to it, so the
     * current base must be the confirmed one, or itself have been built on it.
     */
    public boolean sharingIsSafe() {
        return !fullSnapshotNeeded
                && (current.id() == confirmedId || current.builtOn() == confirmedId);
    }

    /** Whether no new checkpoint may refer to the current base. */
    public boolean fullSnapshotNeeded() {
        return fullSnapshotNeeded;
    }

    /** From now on, no checkpoint may refer to the current base. */
    public void demandFullSnapshot() {
        fullSnapshotNeeded = true;
    }

    /** Whether a snapshot of this id, if it ended now, would be older than the current base. */
    public boolean isObsolete(long id) {
        return id <= current.id();
    }

    /**
     * Makes a background materialization the current base.
     *
     * @return the former one if it is {@link #unsent()}
     */
    public Optional<MaterializedBase> replace(MaterializedBase next) {
        checkState(!isObsolete(next.id()), "Base %s is older than %s", next, current);
        Optional<MaterializedBase> orphan = unsent();
        current = next;
        deliveries = new AtomicInteger();
        return orphan;
    }

    /**
     * Makes a full snapshot that a checkpoint already contains the current base.
     *
     * @return as with {@link #replace}
     */
    public Optional<MaterializedBase> adopt(MaterializedBase full) {
        Optional<MaterializedBase> orphan = replace(full);
        deliveries.incrementAndGet();
        fullSnapshotNeeded = false;
        return orphan;
    }
}
