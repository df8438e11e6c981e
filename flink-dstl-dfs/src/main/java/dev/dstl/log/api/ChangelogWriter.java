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
 * A changelog writer that receives record keys and can therefore drop obsolete records. One per
 * keyed backend; all methods are called on the task thread. The futures it returns complete on
 * threads of the log, never in the mailbox, so that a busy task does not delay a checkpoint. A
 * caller that does not send a handle to the JobManager cancels its future or calls {@link
 * #dropped}, so that the log deletes the segments.
 */
public interface ChangelogWriter extends StateChangelogWriter<ChangelogStateHandleStreamImpl> {

    /**
     * Appends a record. Allocates nothing at steady state and never blocks.
     *
     * @param kind what the record does
     * @param keyGroup the key group of the record key; {@code StateChange.META_KEY_GROUP} with META
     * @param stateId not negative
     * @param bytes record key followed by payload; copied, stays the caller's
     * @param keyPrefixLength how many bytes of the record key are key and namespace
     * @param keyLength bytes of the record key, at least {@code keyPrefixLength}
     * @param length bytes of record key and payload together
     * @throws IOException if the log cannot take the record
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
     * A base may be taken that covers everything appended so far, so that a later persist may begin
     * here. Until this is called for the first time, a persist may begin anywhere; from then on,
     * only at the beginning and where this was called, and the log may compact what lies between.
     */
    void addCompactionBoundary();

    /**
     * No base was taken after all where {@link #addCompactionBoundary} was called, or it came to
     * nothing, so that no persist will begin there; the log may compact what lies on both sides.
     * Called by any thread, once at most for each call of {@link #addCompactionBoundary}.
     *
     * @param at what {@link #nextSequenceNumber} was then
     */
    void removeCompactionBoundary(SequenceNumber at);

    /**
     * Checkpoints have another base from now on. Compaction weighs what it would save against it.
     *
     * @param bytes of the files of the base, not negative; 0 for none
     */
    void baseReplaced(long bytes);

    /**
     * A handle that a persist gave will never be sent to the JobManager. Called by any thread, also
     * after closing.
     *
     * @param handle the very object
     */
    void dropped(ChangelogStateHandleStreamImpl handle);
}
