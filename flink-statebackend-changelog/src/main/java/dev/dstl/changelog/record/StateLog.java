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

import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Appends the records of one state. A record is built in three steps and then appended in one call,
 * so that a serializer that throws leaves no trace:
 *
 * <pre>
 *   DataOutputSerializer record = log.beginRecord();   // write key and namespace
 *   log.endKeyPrefix();                                // write the map key, if there is one
 *   log.endRecordKey();                                // write the payload
 *   log.append(kind, keyGroup);
 * </pre>
 *
 * <p>Used by one thread. Only one record per {@link ChangelogAppender} can be open, or one per
 * state if several threads change states.
 */
public final class StateLog {

    private static final int NEVER = -1;

    private final ChangelogAppender log;
    private final RecordScratch scratch;
    private StateRegistration registration;
    private int stateId;
    private int registeredInRange = NEVER;

    private int keyPrefixLength;
    private int keyLength;

    StateLog(ChangelogAppender log, RecordScratch scratch, StateRegistration registration) {
        this.log = log;
        this.scratch = scratch;
        this.registration = registration;
        this.stateId = log.nextStateId();
    }

    /**
     * Updates the registration after the job has registered the state again. With other serializers
     * the state gets a new id, since all records of an id are read with the same serializers.
     */
    public void update(StateRegistration changed) throws IOException {
        if (registration.isOutdated()
                || !Arrays.equals(registration.toBytes(), changed.toBytes())) {
            stateId = log.nextStateId();
            registeredInRange = NEVER;
        }
        registration = changed;
    }

    /** Returns the number of snapshots that the delegate has started. */
    public long snapshots() {
        return log.snapshots();
    }

    /**
     * Returns a number that differs from earlier ones if no checkpoint may rely on earlier records
     * of this state, since a new range has begun, or if its records have another registration.
     */
    public long generation() {
        return ((long) log.range() << Integer.SIZE) | stateId;
    }

    /** Returns whether several threads change states, each state by one thread at a time. */
    public boolean isOfSeveralThreads() {
        return log.isOfSeveralThreads();
    }

    /**
     * Starts a record. One that was started, but neither appended nor {@linkplain #dropRecord
     * dropped}, counts as failed.
     */
    public DataOutputSerializer beginRecord() {
        return scratch.begin();
    }

    /** Drops a record that was built, but is not needed. */
    public void dropRecord() {
        scratch.end();
    }

    /**
     * Ends the key prefix: what was written so far is key and namespace. It is also the record key
     * unless {@link #endRecordKey()} follows.
     */
    public void endKeyPrefix() {
        keyPrefixLength = scratch.record().length();
        keyLength = keyPrefixLength;
    }

    /** Ends the record key. */
    public void endRecordKey() {
        keyLength = scratch.record().length();
    }

    /**
     * Appends the record. Before the first record of a range, and when the registration no longer
     * describes the record's classes, it appends the state's registration; in the latter case under
     * a new id, since all records of an id are read with the same serializers.
     *
     * @throws IOException if the record could not be appended; the next checkpoint is a full one
     *     then
     */
    public void append(RecordKind kind, int keyGroup) throws IOException {
        try {
            if (registeredInRange != log.range() || registration.isOutdated()) {
                if (registeredInRange == log.range()) {
                    stateId = log.nextStateId();
                }
                log.appendRegistration(stateId, registration.toBytes());
                registeredInRange = log.range();
            }
            log.append(kind, keyGroup, stateId, scratch.record(), keyPrefixLength, keyLength);
            scratch.end();
        } catch (Throwable e) {
            markIncomplete(e);
            throw e;
        }
    }

    /**
     * Marks the changelog as incomplete, because it is unknown what reached the delegate, or
     * because a change could not be logged. The next checkpoint is a full one.
     */
    public void markIncomplete(Throwable cause) {
        log.markIncomplete(this, cause);
    }

    @Override
    public String toString() {
        return "changelog of state '" + registration.name() + "' (" + registration.kind() + ")";
    }
}
