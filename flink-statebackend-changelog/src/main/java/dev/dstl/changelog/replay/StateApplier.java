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
 * Applies the records of one state id to the delegate, in the order of the changelog. Used by the
 * task thread.
 */
abstract class StateApplier {

    private final RestoredRegistration registration;

    /** The part of the record that is being read. */
    private final DataInputDeserializer input = new DataInputDeserializer();

    StateApplier(RestoredRegistration registration) {
        this.registration = registration;
    }

    /**
     * Applies a record.
     *
     * @throws CorruptLogException if the record does not match the state
     * @throws Exception if the delegate fails
     */
    abstract void apply(LogRecord record) throws Exception;

    /**
     * Reads a record as {@link #apply(LogRecord)} does, without changing entries of the delegate.
     *
     * @throws CorruptLogException if the record does not match the state
     * @throws Exception if the delegate rejects its key
     */
    abstract void check(LogRecord record) throws Exception;

    /**
     * Applies buffered changes. Called at the end, and before anything else is applied to the
     * delegate.
     *
     * @throws Exception if the delegate fails
     */
    void finish() throws Exception {}

    /**
     * Applies a change of Flink's built-in changelog that was read up to the state id.
     *
     * @throws CorruptLogException if the change does not match the state
     * @throws Exception if the delegate fails
     */
    abstract void apply(BuiltInChange change) throws Exception;

    /**
     * Copies all entries of the state from another delegate.
     *
     * @param source the state is registered there; only read
     * @throws Exception if one of the delegates fails
     */
    abstract void copyAll(RestoredStates<?> source) throws Exception;

    final RestoredRegistration registration() {
        return registration;
    }

    /** Starts reading the record key. */
    final DataInputDeserializer recordKey(LogRecord record) {
        input.setBuffer(record.buffer(), record.keyOffset(), record.keyLength());
        return input;
    }

    /** Starts reading the payload. */
    final DataInputDeserializer payload(LogRecord record) {
        input.setBuffer(record.buffer(), record.payloadOffset(), record.payloadLength());
        return input;
    }

    /** Reads the next value. */
    final <T> T read(TypeSerializer<T> serializer, LogRecord record) throws CorruptLogException {
        try {
            return serializer.deserialize(input);
        } catch (IOException | RuntimeException e) {
            throw unreadable(record, e);
        }
    }

    /** Checks that all bytes were read; otherwise the serializers are not those of the writer. */
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
