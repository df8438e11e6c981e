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
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * A view of a state change that Flink's built-in changelog recorded, read from front to back.
 * Reused for every change. Used by the task thread.
 */
final class BuiltInChange {

    private final DataInputDeserializer input = new DataInputDeserializer();
    private BuiltInOperation operation = BuiltInOperation.METADATA;
    private int keyGroup;
    private KeyGroupRange wanted = KeyGroupRange.EMPTY_KEY_GROUP_RANGE;

    /**
     * Points this view at a change and reads its operation.
     *
     * @param record contains the change
     * @param wantedKeyGroups key groups to restore from the changelog
     */
    void wrap(LogRecord record, KeyGroupRange wantedKeyGroups) throws CorruptLogException {
        input.setBuffer(record.buffer(), record.payloadOffset(), record.payloadLength());
        keyGroup = record.keyGroup();
        wanted = wantedKeyGroups;
        try {
            operation = BuiltInOperation.of(input.readByte());
        } catch (IOException e) {
            throw new CorruptLogException(
                    "a state change of Flink's built-in changelog: " + e.getMessage() + ".", e);
        }
    }

    BuiltInOperation operation() {
        return operation;
    }

    /**
     * Returns the key group of the key that was current when the change was recorded. May be wrong
     * for timers.
     */
    int keyGroup() {
        return keyGroup;
    }

    /** Returns the key groups to restore from the changelog. */
    KeyGroupRange wantedKeyGroups() {
        return wanted;
    }

    /** Returns the unread part of the change. */
    DataInputDeserializer input() {
        return input;
    }

    int readStateId() throws CorruptLogException {
        try {
            return input.readUnsignedShort();
        } catch (IOException e) {
            throw new CorruptLogException(
                    "a state change of Flink's built-in changelog ends early.", e);
        }
    }

    <T> T read(TypeSerializer<T> serializer, RestoredRegistration state)
            throws CorruptLogException {
        try {
            return serializer.deserialize(input);
        } catch (IOException | RuntimeException e) {
            throw corrupt(state, "the serializers of its registration cannot read it: " + e, e);
        }
    }

    int readCount(RestoredRegistration state) throws CorruptLogException {
        int count;
        try {
            count = input.readInt();
        } catch (IOException e) {
            throw corrupt(state, "it ends early", e);
        }
        if (count < 0) {
            throw corrupt(state, "expected a count, found " + count, null);
        }
        return count;
    }

    void expectEnd(RestoredRegistration state) throws CorruptLogException {
        if (input.available() != 0) {
            throw corrupt(
                    state,
                    String.format("expected its end, found %d more bytes", input.available()),
                    null);
        }
    }

    CorruptLogException unexpected(RestoredRegistration state) {
        return corrupt(state, "states of this kind have no such state changes", null);
    }

    CorruptLogException corrupt(
            RestoredRegistration state, String found, @Nullable Throwable cause) {
        return new CorruptLogException(
                String.format(
                        "a state change %s of state '%s' (%s) in key group %d, which Flink's"
                                + " built-in changelog wrote: %s.",
                        operation, state.name(), state.kind(), keyGroup, found),
                cause);
    }
}
