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

package dev.dstl.changelog.record;

import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends the state changes of one keyed backend to its changelog. Used by the task thread only,
 * except for an operator whose states other threads change, one thread per state at a time. Does
 * not own the writer.
 *
 * <p>After a state access that may have taken effect only in part, or that could not be logged, the
 * changelog is incomplete: the next checkpoint must contain a later snapshot of the delegate.
 */
public final class ChangelogAppender {

    private static final Logger LOG = LoggerFactory.getLogger(ChangelogAppender.class);

    private final StateChangelogWriter<?> writer;
    @Nullable private final ChangelogWriter recordWriter;
    private final Runnable requireFullCheckpoint;

    /** Of all states; null if other threads than the task's change states. */
    @Nullable private final RecordScratch sharedScratch;

    private final AtomicInteger nextStateId = new AtomicInteger();
    private int range;
    private long snapshots;
    private int warnedInRange = -1;

    /** Creates an appender of a changelog that no checkpoint contains. */
    public ChangelogAppender(StateChangelogWriter<?> writer) {
        this(writer, () -> {}, false);
    }

    /**
     * Creates an appender.
     *
     * @param writer a {@link ChangelogWriter}, or any other, which then receives encoded records
     * @param requireFullCheckpoint called by the thread that changes a state when the next
     *     checkpoint must not rely on what was logged so far
     * @param ofSeveralThreads whether several threads change states, each state by one thread at a
     *     time; the writer must allow for that
     */
    public ChangelogAppender(
            StateChangelogWriter<?> writer,
            Runnable requireFullCheckpoint,
            boolean ofSeveralThreads) {
        this.writer = writer;
        this.requireFullCheckpoint = requireFullCheckpoint;
        this.sharedScratch = ofSeveralThreads ? null : new RecordScratch();
        this.recordWriter = writer instanceof ChangelogWriter ? (ChangelogWriter) writer : null;
        addCompactionBoundary();
    }

    private void addCompactionBoundary() {
        if (recordWriter != null) {
            recordWriter.addCompactionBoundary();
        }
    }

    /** Creates the changelog of one more state; writes nothing yet. */
    public StateLog register(StateRegistration registration) {
        RecordScratch scratch = sharedScratch != null ? sharedScratch : new RecordScratch();
        return new StateLog(this, scratch, registration);
    }

    /**
     * Starts a new range. Called when a materialization starts, right after the writer returned the
     * sequence number that it covers. Records from here on must be readable without earlier ones,
     * so each state is registered again before its next record.
     */
    public void startNewRange() {
        range++;
        snapshotStarts();
        addCompactionBoundary();
    }

    /**
     * Reports that the delegate is about to take a snapshot. Entries and iterators that it returned
     * before may belong to a copy afterwards that only the snapshot reads.
     */
    public void snapshotStarts() {
        snapshots++;
    }

    long snapshots() {
        return snapshots;
    }

    /**
     * Forgets a range because its materialization failed or was dropped. Called on any thread.
     *
     * @param at sequence number that the materialization covered
     */
    public void forgetRange(SequenceNumber at) {
        if (recordWriter != null) {
            recordWriter.removeCompactionBoundary(at);
        }
    }

    /**
     * Requires the next checkpoint to contain a full snapshot of the delegate that is taken after
     * this call, whatever is logged until then.
     */
    public void requireFullCheckpoint() {
        requireFullCheckpoint.run();
    }

    boolean isOfSeveralThreads() {
        return sharedScratch == null;
    }

    int range() {
        return range;
    }

    int nextStateId() {
        return nextStateId.getAndIncrement();
    }

    void markIncomplete(StateLog state, Throwable cause) {
        requireFullCheckpoint();
        if (warnedInRange != range) {
            warnedInRange = range;
            LOG.warn(
                    "The next checkpoint is a full one: a state change is missing from the {}",
                    state,
                    cause);
        }
    }

    /** Appends the content of a buffer as a record. */
    void append(
            RecordKind kind,
            int keyGroup,
            int stateId,
            DataOutputSerializer record,
            int keyPrefixLength,
            int keyLength)
            throws IOException {
        append(
                kind,
                keyGroup,
                stateId,
                record.getSharedBuffer(),
                keyPrefixLength,
                keyLength,
                record.length());
    }

    void appendRegistration(int stateId, byte[] registration) throws IOException {
        append(
                RecordKind.META,
                StateChange.META_KEY_GROUP,
                stateId,
                registration,
                0,
                0,
                registration.length);
    }

    private void append(
            RecordKind kind,
            int keyGroup,
            int stateId,
            byte[] bytes,
            int keyPrefixLength,
            int keyLength,
            int length)
            throws IOException {
        if (recordWriter != null) {
            recordWriter.append(kind, keyGroup, stateId, bytes, keyPrefixLength, keyLength, length);
            return;
        }
        int headerLength = RecordFormat.headerLength(stateId, keyPrefixLength, keyLength);
        byte[] record = new byte[headerLength + length];
        RecordFormat.writeHeader(record, 0, kind, stateId, keyPrefixLength, keyLength);
        System.arraycopy(bytes, 0, record, headerLength, length);
        if (kind == RecordKind.META) {
            writer.appendMeta(record);
        } else {
            writer.append(keyGroup, record);
        }
    }
}
