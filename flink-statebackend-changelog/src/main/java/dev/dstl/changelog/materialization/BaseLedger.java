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

/**
 * Tracks the current base, the used ids, and the snapshot on which the next incremental one may
 * build. Belongs to the task thread.
 */
public final class BaseLedger {

    private static final long NONE = Long.MIN_VALUE;

    private MaterializedBase current;
    private BaseReference reference;

    /** No new checkpoint may refer to a base with this id or a smaller one. */
    private long unusableId;

    private long confirmedId;
    private long takenId;

    /**
     * @param restored the base of the restored checkpoint; its id is not less than any id that the
     *     delegate saw before
     * @param fullSnapshotNeeded whether the restored base must not be part of a new checkpoint
     */
    public BaseLedger(MaterializedBase restored, boolean fullSnapshotNeeded) {
        this(restored, fullSnapshotNeeded, new BaseReferences(() -> {}, () -> {}));
    }

    /**
     * @param references to the restored base, whose remote files are the JobManager's already
     */
    public BaseLedger(
            MaterializedBase restored, boolean fullSnapshotNeeded, BaseReferences references) {
        this.current = restored;
        this.reference = references.tryRetain().orElseThrow();
        this.confirmedId = restored.id();
        this.takenId = restored.id();
        this.unusableId = fullSnapshotNeeded ? restored.id() : NONE;
    }

    /** The current base. */
    public MaterializedBase current() {
        return current;
    }

    /**
     * The current base is handed to a checkpoint.
     *
     * @return to be dropped if the checkpoint is never sent
     */
    public BaseReference retainCurrent() {
        return reference.references().tryRetain().orElseThrow();
    }

    /** An id that the delegate never saw. */
    public long takeId() {
        return ++takenId;
    }

    /** The newest snapshot whose completion was reported to the delegate. */
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
        return !fullSnapshotNeeded()
                && (current.id() == confirmedId || current.builtOn() == confirmedId);
    }

    /** Whether no new checkpoint may refer to the current base. */
    public boolean fullSnapshotNeeded() {
        return !isUsable(current.id());
    }

    /** Whether a new checkpoint may refer to a base with this id. */
    public boolean isUsable(long id) {
        return id > unusableId;
    }

    /** From now on, no new checkpoint may refer to a snapshot that was begun until now. */
    public void demandFullSnapshot() {
        unusableId = takenId;
    }

    /** Whether the current base shares no file with anything that a complete checkpoint has. */
    public boolean isNewAndFull() {
        return current.builtOn() == MaterializedBase.BUILT_ON_NOTHING
                && current.id() > confirmedId
                && !fullSnapshotNeeded();
    }

    /** Whether a snapshot of this id, if it ended now, would be older than the current base. */
    public boolean isObsolete(long id) {
        return id <= current.id();
    }

    /**
     * Makes another base the current one.
     *
     * @param nextReference becomes this ledger's
     * @return whether the former base is being deleted, since no checkpoint was sent with it
     */
    public boolean replace(MaterializedBase next, BaseReference nextReference) {
        checkState(!isObsolete(next.id()), "Base %s is older than %s", next, current);
        BaseReference former = reference;
        current = next;
        reference = nextReference;
        return former.drop();
    }

    /** There will be no more checkpoints; the current base goes if none was sent with it. */
    public void close() {
        reference.drop();
    }
}
