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

import dev.dstl.changelog.delegate.BulkLoad;
import dev.dstl.changelog.record.BuiltInRegistration;
import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.changelog.record.StateRegistration;
import dev.dstl.changelog.record.UnreadableRegistrationException;
import dev.dstl.changelog.schema.SchemaHistory;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.StateMigrationException;

/**
 * Applies changelogs to a delegate during a restore, without logging. The job may later register
 * the states again, with other serializers and with its functions. Used by the task thread; does
 * not own the delegate. Must be closed before the job uses the delegate.
 *
 * @param <K> type of the key
 */
public final class LogReplayer<K> implements AutoCloseable {

    private final AbstractKeyedStateBackend<K> delegate;
    private final KeyGroupRange ownedKeyGroups;
    private final ClassLoader userClassLoader;
    private final StateApplierFactory<K> appliers;
    private final BuiltInChange builtInChange = new BuiltInChange();
    @Nullable private final BulkLoad bulkLoad;

    /**
     * Creates a replayer.
     *
     * @param states states of the restored base
     * @param userClassLoader loads the job's serializers
     */
    public LogReplayer(RestoredStates<K> states, ClassLoader userClassLoader) {
        this.delegate = states.delegate();
        this.ownedKeyGroups = delegate.getKeyGroupRange();
        this.userClassLoader = userClassLoader;
        this.appliers = new StateApplierFactory<>(states);
        this.bulkLoad = BulkLoad.of(delegate);
    }

    /** Creates a replayer for a delegate without a base. */
    public LogReplayer(AbstractKeyedStateBackend<K> delegate, ClassLoader userClassLoader) {
        this(new RestoredStates<>(delegate, null, new SchemaHistory()), userClassLoader);
    }

    /**
     * Applies one changelog handle. State ids are valid within a handle only. Records of key groups
     * that the delegate does not own are skipped. Handles must come in the order of the checkpoint.
     *
     * @param cursor closed by the caller
     * @param keyGroups key groups of the handle; other records in its segments are outdated or
     *     belong to other subtasks
     * @throws CorruptLogException if the changelog contains a record that cannot be replayed
     * @throws StateMigrationException if the key serializer, or the serializers of two changelogs
     *     or of a changelog and the base, are incompatible
     * @throws IOException if the changelog cannot be read or the delegate fails
     */
    public void replay(RecordCursor cursor, KeyGroupRange keyGroups)
            throws IOException, StateMigrationException {
        K keyBefore = delegate.getKeyContext().getCurrentKey();
        KeyGroupRange wanted = ownedKeyGroups.getIntersection(keyGroups);
        StateIdTable ids = new StateIdTable();
        LogRecord record = new LogRecord();
        StateApplier last = null;
        while (cursor.next(record)) {
            boolean applies =
                    record.kind() != RecordKind.META && record.kind() != RecordKind.OPAQUE;
            StateApplier next =
                    applies && wanted.contains(record.keyGroup())
                            ? ids.applierOf(record.stateId(), record)
                            : null;
            if (last != null && next != last) {
                finish(last);
            }
            last = next;
            if (next != null) {
                apply(record, next);
            } else if (record.kind() == RecordKind.META) {
                register(record, ids);
            } else if (record.kind() == RecordKind.OPAQUE) {
                applyBuiltIn(record, wanted, ids);
            }
        }
        if (last != null) {
            finish(last);
        }
        // so that the key of the last record is not mistaken for one that the job set
        delegate.getKeyContext().setCurrentKey(keyBefore);
    }

    /** Opaque records are changes that Flink's built-in changelog wrote. */
    private void applyBuiltIn(LogRecord record, KeyGroupRange wanted, StateIdTable ids)
            throws IOException, StateMigrationException {
        builtInChange.wrap(record, wanted);
        if (builtInChange.operation() == BuiltInOperation.METADATA) {
            registerBuiltIn(record, ids);
            return;
        }
        StateApplier applier = ids.applierOf(builtInChange.readStateId(), record);
        try {
            applier.apply(builtInChange);
        } catch (CorruptLogException e) {
            throw e;
        } catch (Exception e) {
            throw refused(builtInChange.operation(), applier, record, e);
        }
    }

    private void apply(LogRecord record, StateApplier applier) throws IOException {
        try {
            applier.apply(record);
        } catch (CorruptLogException e) {
            throw e;
        } catch (Exception e) {
            throw refused(record.kind(), applier, record, e);
        }
    }

    private static void finish(StateApplier applier) throws IOException {
        try {
            applier.finish();
        } catch (Exception e) {
            throw new IOException(
                    "The changelog is readable, but the delegate state backend failed to take a"
                            + " state change of "
                            + applier,
                    e);
        }
    }

    private static IOException refused(
            Object what, StateApplier applier, LogRecord record, Exception cause) {
        return new IOException(
                "The changelog is readable, but the delegate state backend failed to take a "
                        + what
                        + " of "
                        + applier
                        + " in key group "
                        + record.keyGroup(),
                cause);
    }

    private void register(LogRecord record, StateIdTable ids)
            throws IOException, StateMigrationException {
        if (ids.isKnown(record.stateId(), record)) {
            return;
        }
        DataInputDeserializer payload =
                new DataInputDeserializer(
                        record.buffer(), record.payloadOffset(), record.payloadLength());
        RestoredRegistration registration;
        try {
            registration = StateRegistration.read(payload, userClassLoader);
        } catch (IOException | RuntimeException e) {
            throw unreadable(record.stateId(), e);
        }
        put(record.stateId(), record, registration, payload.available(), ids);
    }

    private void registerBuiltIn(LogRecord record, StateIdTable ids)
            throws IOException, StateMigrationException {
        int stateId =
                BuiltInRegistration.stateId(
                        record.buffer(), record.payloadOffset(), record.payloadLength());
        if (ids.isKnown(stateId, record)) {
            return;
        }
        RestoredRegistration registration;
        try {
            registration =
                    BuiltInRegistration.read(
                            builtInChange.input(),
                            delegate.getKeySerializer().snapshotConfiguration(),
                            userClassLoader);
        } catch (IOException | RuntimeException e) {
            throw unreadable(stateId, e);
        }
        put(stateId, record, registration, builtInChange.input().available(), ids);
    }

    private static CorruptLogException unreadable(int stateId, Exception cause) {
        if (cause instanceof UnreadableRegistrationException) {
            return CorruptLogException.explained(stateId, (UnreadableRegistrationException) cause);
        }
        return new CorruptLogException(
                "the registration of state id " + stateId + ": " + cause.getMessage() + ".", cause);
    }

    private void put(
            int stateId,
            LogRecord record,
            RestoredRegistration registration,
            int bytesLeft,
            StateIdTable ids)
            throws IOException, StateMigrationException {
        if (bytesLeft != 0) {
            throw CorruptLogException.at(
                    registration,
                    record,
                    "expected its end, found " + bytesLeft + " more bytes",
                    null);
        }
        try {
            ids.put(stateId, record, appliers.create(registration, bulkLoad));
        } catch (IOException | StateMigrationException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(
                    "The delegate state backend cannot create state '"
                            + registration.name()
                            + "' ("
                            + registration.kind()
                            + ") of the changelog",
                    e);
        }
    }

    /**
     * Ends the replay.
     *
     * @throws IOException if the delegate cannot end its bulk load
     */
    @Override
    public void close() throws IOException {
        if (bulkLoad != null) {
            bulkLoad.close();
        }
    }
}
