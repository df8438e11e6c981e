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

package dev.dstl.log.api;

import java.io.IOException;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * A changelog writer that receives record keys and can therefore drop obsolete records. There is
 * one per keyed backend. Methods are called on the task thread unless they say otherwise, or by
 * several threads that hold the monitor of this object, which its mails hold, too. The futures it
 * returns complete on threads of the changelog storage, never in the mailbox, so a busy task does
 * not delay a checkpoint. A caller that does not send a handle to the JobManager must cancel its
 * future or call {@link #dropped}, so that the storage deletes the segments.
 */
public interface ChangelogWriter extends StateChangelogWriter<ChangelogStateHandleStreamImpl> {

    /**
     * Reports the checkpoint that the task was restored from, which releases what was held in case
     * a later one would complete. Called at most once, before the first record.
     *
     * @param checkpointId 0 if the task begins without state
     */
    void restoredFrom(long checkpointId);

    /**
     * Appends a record. Allocates nothing at steady state and never blocks.
     *
     * @param kind effect of the record on its state
     * @param keyGroup key group of the record key; {@code StateChange.META_KEY_GROUP} with META
     * @param stateId not negative
     * @param bytes record key followed by payload, from index 0; copied, so the caller may reuse
     *     the array
     * @param keyPrefixLength length of key and namespace, the first bytes of the record key
     * @param keyLength length of the record key in bytes, at least {@code keyPrefixLength}
     * @param length length of record key and payload together in bytes
     * @throws IOException if the storage rejects the record
     * @throws IllegalStateException if this writer is closed
     */
    void append(
            RecordKind kind,
            int keyGroup,
            int stateId,
            byte[] bytes,
            int keyPrefixLength,
            int keyLength,
            int length)
            throws IOException;

    /**
     * Marks the current position as one where a later persist may begin, because a materialization
     * that covers everything appended so far is about to start. Until the first call, a persist may
     * begin anywhere and nothing is compacted. From then on, a persist may begin only at the start
     * of the changelog or at a boundary, and runs between boundaries may be compacted.
     */
    void addCompactionBoundary();

    /**
     * Removes a boundary because its materialization was not started or failed. No persist will
     * begin there, so runs on both sides may be compacted together. Called on any thread, at most
     * once per call of {@link #addCompactionBoundary}.
     *
     * @param at value of {@link #nextSequenceNumber} when the boundary was added
     */
    void removeCompactionBoundary(SequenceNumber at);

    /**
     * Reports the size of the new base. Compaction compares what it would save with the cost of a
     * new base.
     *
     * @param bytes total size of the files of the base, not negative; 0 if there is no base
     */
    void baseReplaced(long bytes);

    /**
     * Reports that a handle returned by a persist will never be sent to the JobManager. Called on
     * any thread, also after closing.
     *
     * @param handle the same object that the persist returned
     */
    void dropped(ChangelogStateHandleStreamImpl handle);
}
