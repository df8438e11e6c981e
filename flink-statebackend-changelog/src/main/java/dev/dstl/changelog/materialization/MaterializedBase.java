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

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/**
 * The base of checkpoints: a snapshot of the delegate; and, until the first snapshot after a
 * restore, the restored changelogs on top of it. Immutable.
 */
public final class MaterializedBase {

    /** Value of {@link #builtOn()} for a snapshot that shares no files with earlier ones. */
    public static final long BUILT_ON_NOTHING = -1;

    private final long id;
    private final long builtOn;
    private final SequenceNumber to;
    private final SequenceNumber quietTo;
    private final StateParts remote;
    private final StateParts resolved;
    private final SharedFiles uploaded;
    private final StateParts local;

    /** Creates a base of files that were all restored. */
    public MaterializedBase(
            long id,
            long builtOn,
            SequenceNumber to,
            SequenceNumber quietTo,
            StateParts remote,
            StateParts local) {
        this(id, builtOn, to, quietTo, remote, remote, SharedFiles.NONE, local);
    }

    /**
     * Creates a base that was uploaded.
     *
     * @param id materialization id, which the delegate knows as a checkpoint id
     * @param builtOn id of the snapshot with which this one may share files
     * @param to end of the changelog that the base covers, exclusive
     * @param quietTo end of the changelog as long as nothing but the snapshot itself has appended
     *     to it, exclusive; not less than {@code to}
     * @param remote handles that are sent to the JobManager
     * @param resolved the same without placeholders for {@code uploaded} files
     * @param uploaded files that this attempt has uploaded
     * @param local copies on the local disk, empty if there are none
     */
    MaterializedBase(
            long id,
            long builtOn,
            SequenceNumber to,
            SequenceNumber quietTo,
            StateParts remote,
            StateParts resolved,
            SharedFiles uploaded,
            StateParts local) {
        this.id = id;
        this.builtOn = builtOn;
        this.to = to;
        this.quietTo = quietTo;
        this.remote = remote;
        this.resolved = resolved;
        this.uploaded = uploaded;
        this.local = local;
    }

    /** Returns the materialization id. */
    public long id() {
        return id;
    }

    /** Returns the id of the materialization with which this one may share files. */
    public long builtOn() {
        return builtOn;
    }

    /** Returns the sequence number from which on, inclusive, records are not in the base. */
    public SequenceNumber to() {
        return to;
    }

    /**
     * Returns whether a new base would contain more changes, if the changelog ends at {@code end},
     * exclusive.
     */
    public boolean isBehind(SequenceNumber end) {
        return !remote.logs().isEmpty() || end.compareTo(quietTo) > 0;
    }

    /**
     * Returns the handles that are sent to the JobManager. They may contain placeholders for files
     * of a confirmed base.
     */
    public StateParts remote() {
        return remote;
    }

    /**
     * Returns the same handles without placeholders for files that this attempt has uploaded, for a
     * JobManager that may have forgotten the confirmed base.
     */
    public StateParts resolved() {
        return resolved;
    }

    /** Returns the files that this attempt has uploaded, and that later snapshots may share. */
    SharedFiles uploadedFiles() {
        return uploaded;
    }

    /**
     * Returns the total size of the snapshots in bytes, including files shared with other bases,
     * without restored changelogs.
     */
    public long snapshotBytes() {
        long bytes = 0;
        for (StateObject snapshot : remote.snapshots()) {
            bytes += snapshot.getStateSize();
        }
        return bytes;
    }

    /** Returns the copies on the local disk, empty if there are none. */
    public StateParts local() {
        return local;
    }

    /**
     * Deletes the files of a base that no checkpoint contains.
     *
     * @throws Exception if a file could not be deleted; deletion of the others was still tried
     */
    public void discard() throws Exception {
        List<StateObject> files = new ArrayList<>(remote.snapshots());
        files.addAll(local.snapshots());
        Deletion.ofEach(files, StateObject::discardState);
    }

    /**
     * Deletes the copies on the local disk.
     *
     * @throws Exception if a file could not be deleted; deletion of the others was still tried
     */
    void discardLocalCopies() throws Exception {
        Deletion.ofEach(local.snapshots(), StateObject::discardState);
    }

    @Override
    public String toString() {
        return "base " + id + " up to " + to + ": " + remote;
    }
}
