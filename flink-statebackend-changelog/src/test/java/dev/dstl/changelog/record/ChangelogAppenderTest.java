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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.junit.jupiter.api.Test;

class ChangelogAppenderTest {

    private final InMemoryChangelogWriter writer = new InMemoryChangelogWriter();
    private final ChangelogAppender log = new ChangelogAppender(writer);

    @Test
    void aStateIsRegisteredBeforeItsFirstRecord_onceInEachRange() throws IOException {
        StateLog first = log.register(registration("first"));
        StateLog second = log.register(registration("second"));

        put(first, 1);
        put(first, 2);
        put(second, 3);
        log.startNewRange();
        put(first, 4);
        put(first, 5);

        assertThat(writer.kinds())
                .containsExactly(
                        RecordKind.META,
                        RecordKind.PUT,
                        RecordKind.PUT,
                        RecordKind.META,
                        RecordKind.PUT,
                        RecordKind.META,
                        RecordKind.PUT,
                        RecordKind.PUT);
        assertThat(writer.record(5).stateId()).isEqualTo(writer.record(0).stateId());
        assertThat(writer.record(3).stateId()).isNotEqualTo(writer.record(0).stateId());
        assertThat(writer.record(0).keyGroup()).isEqualTo(StateChange.META_KEY_GROUP);
    }

    @Test
    void aStateWithoutChanges_leavesNoTrace() {
        log.register(registration("unused"));

        assertThat(writer.size()).isZero();
    }

    @Test
    void sameRegistrationAgain_keepsTheId() throws IOException {
        StateLog state = log.register(registration("state"));
        put(state, 1);

        state.update(registration("state"));
        put(state, 2);

        assertThat(writer.kinds()).containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.PUT);
    }

    @Test
    void otherSerializers_getANewIdAndRegistration() throws IOException {
        StateLog state = log.register(registration("state"));
        put(state, 1);

        state.update(
                StateRegistration.ofQueue(
                        "state", IntSerializer.INSTANCE, StringSerializer.INSTANCE));
        put(state, 2);

        assertThat(writer.kinds())
                .containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.META, RecordKind.PUT);
        assertThat(writer.record(3).stateId()).isEqualTo(writer.record(2).stateId());
        assertThat(writer.record(2).stateId()).isNotEqualTo(writer.record(0).stateId());
    }

    @Test
    void anyOtherWriter_getsTheSameRecordsEncoded() throws IOException {
        InMemoryLog flinks = InMemoryLog.ofFlink();
        ChangelogAppender encoding = new ChangelogAppender(flinks.writer());
        for (ChangelogAppender each : Arrays.asList(log, encoding)) {
            StateLog state = each.register(registration("state"));
            DataOutputSerializer record = state.beginRecord();
            record.writeInt(1);
            state.endKeyPrefix();
            record.writeInt(2);
            state.endRecordKey();
            record.writeInt(3);
            state.append(RecordKind.PUT, 5);
        }

        try (RecordCursor cursor = flinks.open()) {
            LogRecord record = new LogRecord();
            for (int i = 0; i < writer.size(); i++) {
                assertThat(cursor.next(record)).isTrue();
                LogRecord expected = writer.record(i);
                assertThat(record.kind()).isEqualTo(expected.kind());
                assertThat(record.keyGroup()).isEqualTo(expected.keyGroup());
                assertThat(record.stateId()).isEqualTo(expected.stateId());
                assertThat(record.keyPrefixLength()).isEqualTo(expected.keyPrefixLength());
                assertThat(recordKey(record)).isEqualTo(recordKey(expected));
                assertThat(payload(record)).isEqualTo(payload(expected));
            }
            assertThat(cursor.next(record)).isFalse();
            assertThat(writer.record(1).keyPrefixLength()).isEqualTo(4);
            assertThat(writer.record(1).keyLength()).isEqualTo(8);
        }
    }

    @Test
    void anUnfinishedRecord_isForgotten() throws IOException {
        StateLog state = log.register(registration("state"));
        state.beginRecord().writeUTF("half a record");

        put(state, 1);

        assertThat(recordKey(writer.record(1))).hasSize(4);
        assertThat(payload(writer.record(1))).isEmpty();
    }

    /** Serializers may keep what they could not write to a buffer. */
    @Test
    void afterARecordThatFailed_theBufferIsAnotherOne() throws IOException {
        StateLog state = log.register(registration("state"));
        put(state, 1);
        DataOutputSerializer failed = state.beginRecord();

        assertThat(state.beginRecord()).isNotSameAs(failed);
    }

    @Test
    void afterARecordThatWasAppendedOrDropped_theBufferIsUsedAgain() throws IOException {
        StateLog state = log.register(registration("state"));
        DataOutputSerializer buffer = state.beginRecord();
        state.endKeyPrefix();
        state.append(RecordKind.PUT, 0);
        assertThat(state.beginRecord()).isSameAs(buffer);
        state.dropRecord();

        assertThat(state.beginRecord()).isSameAs(buffer);
    }

    @Test
    void afterAHugeRecord_theMemoryIsGivenBack() throws IOException {
        RecordScratch scratch = new RecordScratch();
        StateLog state = new StateLog(log, scratch, registration("state"));
        DataOutputSerializer record = state.beginRecord();
        record.write(new byte[10 << 20]);
        state.endKeyPrefix();
        state.append(RecordKind.PUT, 0);

        assertThat(scratch.record().getSharedBuffer().length).isLessThanOrEqualTo(1 << 20);
    }

    @Test
    void anAppendThatFails_requiresAFullCheckpoint_andTheLogGoesOn() throws IOException {
        boolean[] refuse = new boolean[1];
        int[] required = new int[1];
        InMemoryChangelogWriter refusing =
                new InMemoryChangelogWriter() {
                    @Override
                    public void append(
                            RecordKind kind,
                            int keyGroup,
                            int stateId,
                            byte[] bytes,
                            int keyPrefixLength,
                            int keyLength,
                            int length)
                            throws IOException {
                        if (refuse[0]) {
                            throw new IOException("refused");
                        }
                        super.append(
                                kind, keyGroup, stateId, bytes, keyPrefixLength, keyLength, length);
                    }
                };
        ChangelogAppender refused = new ChangelogAppender(refusing, () -> required[0]++, false);
        StateLog state = refused.register(registration("state"));
        put(state, 1);
        assertThat(required[0]).isZero();

        refuse[0] = true;
        assertThatThrownBy(() -> put(state, 2)).hasMessage("refused");
        assertThat(required[0]).isEqualTo(1);

        refuse[0] = false;
        put(state, 3);
        assertThat(refusing.kinds())
                .containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.PUT);
        assertThat(required[0]).isEqualTo(1);
    }

    private static StateRegistration registration(String name) {
        return StateRegistration.ofQueue(name, IntSerializer.INSTANCE, IntSerializer.INSTANCE);
    }

    private static void put(StateLog state, int recordKey) throws IOException {
        state.beginRecord().writeInt(recordKey);
        state.endKeyPrefix();
        state.append(RecordKind.PUT, 0);
    }

    private static byte[] recordKey(LogRecord record) {
        return Arrays.copyOfRange(
                record.buffer(), record.keyOffset(), record.keyOffset() + record.keyLength());
    }

    private static byte[] payload(LogRecord record) {
        return Arrays.copyOfRange(
                record.buffer(),
                record.payloadOffset(),
                record.payloadOffset() + record.payloadLength());
    }
}
