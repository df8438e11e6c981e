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

import java.util.List;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.util.ExceptionUtils;

/**
 * The first part of every checkpoint: a snapshot of the delegate, and, until the first snapshot
 * after a restore, the restored logs on top of it. Immutable.
 */
public final class MaterializedBase {

    /** What a snapshot is built on that shares nothing with an earlier one. */
    public static final long BUILT_ON_NOTHING = -1;

    private final long id;
    private final long builtOn;
    private final SequenceNumber to;
    private final SequenceNumber quietTo;
    private final StateParts remote;
    private final StateParts local;

    /**
     * @param id materialization id, which the delegate knows as a checkpoint id
     * @param builtOn the snapshot of the delegate that this one may share files with
     * @param to the log records before this are in the base, exclusive
     * @param quietTo what the log ends with as long as nothing but the snapshot itself has written
     *     to it, exclusive; not less than {@code to}
     * @param remote what the JobManager gets
     * @param local the copy on local disk, empty if there is none
     */
    public MaterializedBase(
            long id,
            long builtOn,
            SequenceNumber to,
            SequenceNumber quietTo,
            StateParts remote,
            StateParts local) {
        this.id = id;
        this.builtOn = builtOn;
        this.to = to;
        this.quietTo = quietTo;
        this.remote = remote;
        this.local = local;
    }

    /** Materialization id. */
    public long id() {
        return id;
    }

    /** The materialization that this one may share files with. */
    public long builtOn() {
        return builtOn;
    }

    /** The log from here on, inclusive, is not in the base. */
    public SequenceNumber to() {
        return to;
    }

    /** Whether a new base would hold more, if the log now ends with {@code end}, exclusive. */
    public boolean isBehind(SequenceNumber end) {
        return !remote.logs().isEmpty() || end.compareTo(quietTo) > 0;
    }

    /** What the JobManager gets. */
    public StateParts remote() {
        return remote;
    }

    /** Bytes of the snapshots, without restored logs; files shared with other bases count. */
    public long snapshotBytes() {
        long bytes = 0;
        for (StateObject snapshot : remote.snapshots()) {
            bytes += snapshot.getStateSize();
        }
        return bytes;
    }

    /** The copy on local disk, empty if there is none. */
    public StateParts local() {
        return local;
    }

    /**
     * Deletes the files of a base that no checkpoint ever got.
     *
     * @throws Exception if a file could not be deleted; the others were tried
     */
    public void discard() throws Exception {
        discard(List.of(remote, local));
    }

    /**
     * Deletes the copies on the local disk.
     *
     * @throws Exception as above
     */
    void discardLocalCopies() throws Exception {
        discard(List.of(local));
    }

    private static void discard(List<StateParts> places) throws Exception {
        Exception failure = null;
        for (StateParts parts : places) {
            for (StateObject handle : parts.snapshots()) {
                try {
                    handle.discardState();
                } catch (Exception e) {
                    failure = ExceptionUtils.firstOrSuppressed(e, failure);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public String toString() {
        return "base " + id + " up to " + to + ": " + remote;
    }
}
