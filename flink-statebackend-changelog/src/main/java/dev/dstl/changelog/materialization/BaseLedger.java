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

import java.util.concurrent.ThreadLocalRandom;

/**
 * Tracks the current base, the materialization ids, and the snapshot on which the next incremental
 * one may be built. Used by the task thread.
 */
public final class BaseLedger {

    private static final long NONE = Long.MIN_VALUE;

    private static final long MAX_RANDOM_IDS = 1L << 40;

    private MaterializedBase current;
    private BaseReference reference;

    /**
     * New checkpoints must not refer to bases with this id or a lower one. Volatile, since a thread
     * that changes a state demands full snapshots, and that need not be the task's.
     */
    private volatile long unusableId;

    private long confirmedId;
    private long takenId;

    /**
     * Creates a ledger.
     *
     * @param restored base of the restored checkpoint; its id is not less than any id that the
     *     delegate has seen
     * @param fullSnapshotNeeded whether new checkpoints must not contain the restored base
     */
    public BaseLedger(MaterializedBase restored, boolean fullSnapshotNeeded) {
        this(restored, fullSnapshotNeeded, new BaseReferences(() -> {}, () -> {}), 0);
    }

    /**
     * Creates a ledger.
     *
     * @param references to the restored base, whose remote files the JobManager owns
     * @param restored base of the restored checkpoint; its id is not less than any id that the
     *     delegate has seen
     * @param fullSnapshotNeeded whether new checkpoints must not contain the restored base
     * @param idsAfter new ids are higher; must differ between the attempts of a task that restore
     *     the same checkpoint, since local copies are in directories that are named by them, and
     *     the former attempt may still be deleting its own
     */
    public BaseLedger(
            MaterializedBase restored,
            boolean fullSnapshotNeeded,
            BaseReferences references,
            long idsAfter) {
        this.current = restored;
        this.reference = references.tryRetain().orElseThrow();
        this.confirmedId = restored.id();
        this.takenId = Math.max(restored.id(), idsAfter);
        this.unusableId = fullSnapshotNeeded ? restored.id() : NONE;
    }

    /**
     * Returns the {@code idsAfter} of an attempt: the time, or a random number if the base was
     * written on a host whose clock is ahead.
     */
    public static long idsOfAttempt(MaterializedBase restored, long currentTimeMillis) {
        return restored.id() < currentTimeMillis
                ? currentTimeMillis
                : restored.id() + ThreadLocalRandom.current().nextLong(MAX_RANDOM_IDS);
    }

    /** Returns the current base. */
    public MaterializedBase current() {
        return current;
    }

    /**
     * Takes a reference to the current base for a checkpoint.
     *
     * @return to be dropped if the checkpoint is never sent
     */
    public BaseReference retainCurrent() {
        return reference.references().tryRetain().orElseThrow();
    }

    /** Returns a new materialization id. */
    public long takeId() {
        return ++takenId;
    }

    /** Returns the id of the newest snapshot that was confirmed to the delegate. */
    public long confirmedId() {
        return confirmedId;
    }

    /**
     * Records that a checkpoint with a snapshot of the delegate is complete.
     *
     * @return whether the delegate must be notified
     */
    public boolean confirm(long id) {
        if (id <= confirmedId) {
            return false;
        }
        confirmedId = id;
        return true;
    }

    /**
     * Returns whether the delegate may take a snapshot that shares files with the newest confirmed
     * one. The JobManager keeps a file only as long as every checkpoint in between contains it, so
     * the current base must be the confirmed snapshot, or be built on it.
     */
    public boolean sharingIsSafe() {
        return !fullSnapshotNeeded()
                && (current.id() == confirmedId || current.builtOn() == confirmedId);
    }

    /** Returns whether new checkpoints must not contain the current base. */
    public boolean fullSnapshotNeeded() {
        return !isUsable(current.id());
    }

    /** Returns whether new checkpoints may contain a base with this id. */
    public boolean isUsable(long id) {
        return id > unusableId;
    }

    /** Excludes all snapshots that were started until now from new checkpoints. */
    public void demandFullSnapshot() {
        unusableId = takenId;
    }

    /** Returns whether the current base shares no file with any completed checkpoint. */
    public boolean isNewAndFull() {
        return current.builtOn() == MaterializedBase.BUILT_ON_NOTHING
                && current.id() > confirmedId
                && !fullSnapshotNeeded();
    }

    /**
     * Returns whether a snapshot with this id would be older than the current base if it ended now.
     */
    public boolean isObsolete(long id) {
        return id <= current.id();
    }

    /**
     * Replaces the current base.
     *
     * @param nextReference owned by this ledger from now on
     * @return whether the former base is being deleted because no checkpoint was sent with it
     */
    public boolean replace(MaterializedBase next, BaseReference nextReference) {
        checkState(!isObsolete(next.id()), "Base %s is older than %s", next, current);
        BaseReference former = reference;
        current = next;
        reference = nextReference;
        return former.drop();
    }

    /** Ends checkpointing. Deletes the current base if no checkpoint was sent with it. */
    public void close() {
        reference.drop();
    }
}
