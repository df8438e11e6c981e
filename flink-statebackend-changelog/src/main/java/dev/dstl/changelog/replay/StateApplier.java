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

import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.log.api.LogRecord;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;

/**
 * Applies the records of one state id to the delegate, in the order of the log. Belongs to the task
 * thread.
 */
abstract class StateApplier {

    private final RestoredRegistration registration;

    /** Points at whatever part of the record is read. */
    private final DataInputDeserializer input = new DataInputDeserializer();

    StateApplier(RestoredRegistration registration) {
        this.registration = registration;
    }

    /**
     * Applies one record.
     *
     * @throws CorruptLogException if the record does not fit the state
     * @throws Exception if the delegate cannot take it
     */
    abstract void apply(LogRecord record) throws Exception;

    /**
     * Reads one record as {@link #apply(LogRecord)} would, without changing the delegate's entries.
     *
     * @throws CorruptLogException if the record does not fit the state
     * @throws Exception if the delegate cannot take its key
     */
    abstract void check(LogRecord record) throws Exception;

    /**
     * Applies what {@link #apply(LogRecord)} has put off. Called before anything else is applied to
     * the delegate, and at the end.
     *
     * @throws Exception if the delegate cannot take it
     */
    void finish() throws Exception {}

    /**
     * Applies one change of Flink's own changelog, which is read as far as the state id.
     *
     * @throws CorruptLogException if the change does not fit the state
     * @throws Exception if the delegate cannot take it
     */
    abstract void apply(BuiltInChange change) throws Exception;

    /**
     * Applies all that another delegate holds of the state.
     *
     * @param source has the state registered; only read
     * @throws Exception if one of the delegates fails
     */
    abstract void copyAll(RestoredStates<?> source) throws Exception;

    final RestoredRegistration registration() {
        return registration;
    }

    /** Reads from the record key from now on. */
    final DataInputDeserializer recordKey(LogRecord record) {
        input.setBuffer(record.buffer(), record.keyOffset(), record.keyLength());
        return input;
    }

    /** Reads from the payload from now on. */
    final DataInputDeserializer payload(LogRecord record) {
        input.setBuffer(record.buffer(), record.payloadOffset(), record.payloadLength());
        return input;
    }

    /** Reads one thing behind the other. */
    final <T> T read(TypeSerializer<T> serializer, LogRecord record) throws CorruptLogException {
        try {
            return serializer.deserialize(input);
        } catch (IOException | RuntimeException e) {
            throw unreadable(record, e);
        }
    }

    /** Every byte must have been read, or the serializers are not those of the writer. */
    final void expectEnd(LogRecord record) throws CorruptLogException {
        if (input.available() != 0) {
            throw corrupt(
                    record,
                    "expected its end, found "
                            + input.available()
                            + " more bytes, after reading"
                            + " with "
                            + registration.valueSerializer(),
                    null);
        }
    }

    final CorruptLogException unreadable(LogRecord record, Throwable cause) {
        return corrupt(
                record, "the serializers of its registration cannot read it: " + cause, cause);
    }

    final CorruptLogException unexpectedKind(LogRecord record) {
        return corrupt(record, "states of this kind have no such records", null);
    }

    final CorruptLogException corrupt(LogRecord record, String found, @Nullable Throwable cause) {
        return CorruptLogException.at(registration, record, found, cause);
    }

    @Override
    public final String toString() {
        return "state '" + registration.name() + "' (" + registration.kind() + ")";
    }
}
