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

package dev.dstl.changelog.replay;

import dev.dstl.changelog.mutation.RestoredRegistration;
import dev.dstl.changelog.mutation.StateRegistration;
import dev.dstl.log.record.LogRecord;
import dev.dstl.log.record.RecordCursor;
import dev.dstl.log.record.RecordKind;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.StateMigrationException;

/**
 * Applies logs to a delegate while it restores, without logging. What it creates in the delegate
 * the job may register again later, with other serializers and with its functions. Belongs to the
 * task thread; the delegate stays its creator's.
 *
 * @param <K> type of the key
 */
public final class LogReplayer<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final KeyGroupRange ownedKeyGroups;
    private final ClassLoader userClassLoader;
    private final RestoredStates<K> states;

    /**
     * @param delegate already holds the base
     * @param userClassLoader finds the job's serializers
     */
    public LogReplayer(AbstractKeyedStateBackend<K> delegate, ClassLoader userClassLoader) {
        this.delegate = delegate;
        this.ownedKeyGroups = delegate.getKeyGroupRange();
        this.userClassLoader = userClassLoader;
        this.states = new RestoredStates<>(delegate);
    }

    /**
     * Applies one log handle; state ids begin anew with each. Records of key groups that the
     * delegate does not own are skipped. Handles must come in the order of the checkpoint.
     *
     * @param cursor stays the caller's, who closes it
     * @throws CorruptLogException if the log holds what cannot be replayed
     * @throws StateMigrationException if the key serializer, or the serializers of consecutive
     *     logs, are incompatible
     * @throws IOException if the log cannot be read or the delegate cannot take it
     */
    public void replay(RecordCursor cursor) throws IOException, StateMigrationException {
        K keyBefore = delegate.getKeyContext().getCurrentKey();
        StateNumbers numbers = new StateNumbers();
        LogRecord record = new LogRecord();
        while (cursor.next(record)) {
            if (record.kind() == RecordKind.META) {
                register(record, numbers);
            } else if (record.kind() == RecordKind.OPAQUE) {
                throw new CorruptLogException(
                        "it was written by another changelog backend, through our storage. Restore"
                                + " with that one.",
                        null);
            } else if (ownedKeyGroups.contains(record.keyGroup())) {
                apply(record, numbers.applierOf(record));
            }
        }
        // so that nobody takes the key of the last record for one that the job set
        delegate.getKeyContext().setCurrentKey(keyBefore);
    }

    private void apply(LogRecord record, StateApplier applier) throws IOException {
        try {
            applier.apply(record);
        } catch (CorruptLogException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(
                    "The log is readable, but the delegate state backend failed to take a "
                            + record.kind()
                            + " of "
                            + applier
                            + " in key group "
                            + record.keyGroup(),
                    e);
        }
    }

    private void register(LogRecord record, StateNumbers numbers)
            throws IOException, StateMigrationException {
        if (numbers.isKnown(record)) {
            return;
        }
        DataInputDeserializer payload =
                new DataInputDeserializer(
                        record.buffer(), record.payloadOffset(), record.payloadLength());
        RestoredRegistration registration;
        try {
            registration = StateRegistration.read(payload, userClassLoader);
        } catch (IOException | RuntimeException e) {
            throw new CorruptLogException(
                    "the registration of state id " + record.stateId() + ": " + e.getMessage(), e);
        }
        if (payload.available() != 0) {
            throw CorruptLogException.at(
                    registration,
                    record,
                    "expected its end, found " + payload.available() + " more bytes",
                    null);
        }
        try {
            numbers.put(record, states.create(registration));
        } catch (IOException | StateMigrationException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(
                    "The delegate state backend cannot create state '"
                            + registration.name()
                            + "' ("
                            + registration.kind()
                            + ") of the log",
                    e);
        }
    }
}
