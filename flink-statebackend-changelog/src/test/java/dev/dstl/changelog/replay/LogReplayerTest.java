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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LogReplayerTest {

    @Test
    void severalLogsInTheirOrder_giveTheStateOfTheLast() throws Exception {
        InMemoryLog first = InMemoryLog.withRecordKeys();
        InMemoryLog second = InMemoryLog.withRecordKeys();
        try (LoggedJob job = LoggedJob.start(Delegate.Kind.ROCKS_DB, first)) {
            job.at(1, "a");
            job.list.add(1);
            job.map.put("k", 1);
            job.timers.add(LoggedJob.timer(1, 1, "a"));
            job.timers.add(LoggedJob.timer(2, 1, "a"));
        }
        try (LoggedJob job =
                LoggedJob.restore(Delegate.Kind.ROCKS_DB, KeyGroupRange.of(0, 15), first, second)) {
            job.at(1, "a");
            // other states come first, so that ids differ from those of the first log
            job.timers.poll();
            job.map.put("l", 2);
            job.list.add(2);
        }
        Delegate<Integer> delegate = Delegate.Kind.ROCKS_DB.create(IntSerializer.INSTANCE);
        try (LogReplayer<Integer> replayer = replayer(delegate)) {
            replayer.replay(first.open(), KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1));
            replayer.replay(second.open(), KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1));
        }
        try (LoggedJob job = LoggedJob.on(delegate, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            assertThat(job.list.get()).containsExactly(1, 2);
            assertThat(job.map.keys()).containsExactlyInAnyOrder("k", "l");
            assertThat(job.pollAllTimers()).hasSize(1).first().asString().contains("210");
        }
    }

    /** So large that it is written to RocksDB in several parts. */
    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void aLargeList_isRestoredInItsOrder(Delegate.Kind kind) throws Exception {
        int elements = 300_000;
        InMemoryLog log = InMemoryLog.withRecordKeys();
        try (LoggedJob job = LoggedJob.start(kind, log)) {
            job.at(1, "a");
            job.list.update(List.of(-2, -1));
            for (int i = 0; i < elements; i += 1000) {
                job.at(1, "a");
                job.list.addAll(numbers(i, i + 1000));
                job.at(3, "a");
                job.list.addAll(numbers(i, i + 1000));
            }
            job.at(2, "a");
            job.list.add(7);
        }
        try (LoggedJob restored = LoggedJob.restore(kind, log)) {
            restored.at(1, "a");
            assertThat(restored.list.getInternal().equals(numbers(-2, elements))).isTrue();
            restored.at(2, "a");
            assertThat(restored.list.get()).containsExactly(7);
            restored.at(3, "a");
            assertThat(restored.list.getInternal().equals(numbers(0, elements))).isTrue();
        }
    }

    private static List<Integer> numbers(int from, int to) {
        return IntStream.range(from, to).boxed().collect(Collectors.toList());
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void afterReplay_noKeyIsCurrent(Delegate.Kind kind) throws Exception {
        InMemoryChangelogWriter log = logOf(job -> job.value.update("v"));
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            try (LogReplayer<Integer> replayer = replayer(delegate)) {
                replayer.replay(log.open(), KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1));
            }

            assertThat(delegate.backend().getCurrentKey()).isNull();
        }
    }

    @Test
    void aRecordWithoutRegistration_isNamed() throws Exception {
        InMemoryChangelogWriter damaged = new InMemoryChangelogWriter();
        damaged.append(RecordKind.PUT, 3, 17, new byte[8], 4, 4, 8);

        assertCorrupt(damaged, "state id 17", "PUT", "key group 3");
    }

    @Test
    void aRecordOfAKindThatTheStateDoesNotHave_isNamed() throws Exception {
        InMemoryChangelogWriter log = logOf(job -> job.value.update("v"));
        LogRecord put = log.record(1);

        assertCorrupt(
                with(log, put, RecordKind.APPEND, 0), "APPEND record of state 'value' (VALUE)");
    }

    @Test
    void aPayloadThatIsTooShortOrTooLong_isNamed() throws Exception {
        InMemoryChangelogWriter log = logOf(job -> job.value.update("value"));
        LogRecord put = log.record(1);

        assertCorrupt(
                with(log, put, RecordKind.PUT, -1),
                "PUT record of state 'value' (VALUE) in key group " + put.keyGroup(),
                "cannot read it");
        assertCorrupt(
                with(log, put, RecordKind.PUT, 1), "state 'value' (VALUE)", "found 1 more bytes");
    }

    @Test
    void damagedListsAndMaps_areNamed() throws Exception {
        InMemoryChangelogWriter lists = logOf(job -> job.list.add(1));
        InMemoryChangelogWriter maps = logOf(job -> job.map.put("k", 1));

        assertCorrupt(with(lists, lists.record(1), RecordKind.APPEND, -1), "state 'list' (LIST)");
        assertCorrupt(with(maps, maps.record(1), RecordKind.PUT, -1), "state 'map' (MAP)");
    }

    @Test
    void aKeyWhoseHashChanged_isNamedWithTheRule() throws Exception {
        InMemoryChangelogWriter log = logOf(job -> job.value.update("v"));
        LogRecord put = log.record(1);
        InMemoryChangelogWriter moved = new InMemoryChangelogWriter();
        copy(log.record(0), moved, log.record(0).keyGroup());
        copy(put, moved, (put.keyGroup() + 1) % Delegate.KEY_GROUPS);

        assertCorrupt(moved, "java.lang.Integer", "hash code of a key must be the same");
    }

    @Test
    void aDamagedRegistration_isNamed() throws Exception {
        InMemoryChangelogWriter log = logOf(job -> job.value.update("v"));
        LogRecord meta = log.record(0);
        InMemoryChangelogWriter damaged = new InMemoryChangelogWriter();
        byte[] payload =
                Arrays.copyOfRange(
                        meta.buffer(),
                        meta.payloadOffset(),
                        meta.payloadOffset() + meta.payloadLength() - 3);
        damaged.append(RecordKind.META, meta.keyGroup(), 0, payload, 0, 0, payload.length);

        assertCorrupt(damaged, "state id 0", "state 'value' (VALUE)");
    }

    @Test
    void aRegistrationOfANewerRelease_isRefusedWithTheWayOut_andNoOther() throws Exception {
        LogRecord meta = logOf(job -> job.value.update("v")).record(0);
        byte[] payload =
                Arrays.copyOfRange(
                        meta.buffer(),
                        meta.payloadOffset(),
                        meta.payloadOffset() + meta.payloadLength());
        payload[0] = 2;
        InMemoryChangelogWriter newer = new InMemoryChangelogWriter();
        newer.append(RecordKind.META, meta.keyGroup(), 0, payload, 0, 0, payload.length);

        try (Delegate<Integer> delegate = Delegate.Kind.HASH_MAP.create(IntSerializer.INSTANCE);
                LogReplayer<Integer> replayer = replayer(delegate)) {
            assertThatThrownBy(
                            () ->
                                    replayer.replay(
                                            newer.open(),
                                            KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1)))
                    .isInstanceOf(CorruptLogException.class)
                    .hasMessage(
                            "The changelog cannot be replayed: the registration of state id 0:"
                                    + " Expected a state registration of version 1, found 2. A"
                                    + " newer release of DSTL wrote it: restore with that release,"
                                    + " or from a savepoint.");
        }
    }

    @Test
    void opaqueRecordsThatFlinksOwnWrapperNeverWrote_areRefused() throws Exception {
        InMemoryChangelogWriter opaque = new InMemoryChangelogWriter();
        opaque.append(RecordKind.OPAQUE, 3, 0, new byte[] {100, 0, 1}, 0, 0, 3);

        assertCorrupt(opaque, "expected an operation from 0 to 8, found 100");
    }

    @Test
    void changesOfAnotherWrapper_areRefused() throws Exception {
        StateChange ofFlink = StateChange.ofDataChange(3, new byte[] {100, 0, 1});
        try (Delegate<Integer> delegate = Delegate.Kind.HASH_MAP.create(IntSerializer.INSTANCE);
                StateChangeCursor cursor =
                        new StateChangeCursor(
                                CloseableIterator.fromList(List.of(ofFlink), change -> {}))) {
            assertThatThrownBy(
                            () ->
                                    replayer(delegate)
                                            .replay(
                                                    cursor,
                                                    KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("written by another changelog backend");
        }
    }

    @Test
    void closingTheCursor_closesTheIterator() throws Exception {
        boolean[] closed = new boolean[1];
        StateChangeCursor cursor =
                new StateChangeCursor(
                        CloseableIterator.adapterForIterator(
                                Stream.<StateChange>empty().iterator(), () -> closed[0] = true));

        cursor.close();

        assertThat(closed[0]).isTrue();
    }

    @Test
    void aFunctionThatTheJobDidNotYetBind_saysSo() {
        FunctionPlaceholder<Object, Object, Object> placeholder = new FunctionPlaceholder<>("sum");

        assertThatThrownBy(() -> placeholder.reduce(VoidNamespace.INSTANCE, VoidNamespace.INSTANCE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'sum' was restored but not registered");
    }

    private interface Use {
        void use(LoggedJob job) throws Exception;
    }

    private static InMemoryChangelogWriter logOf(Use use) throws Exception {
        InMemoryLog log = InMemoryLog.withRecordKeys();
        try (LoggedJob job = LoggedJob.start(Delegate.Kind.HASH_MAP, log)) {
            job.at(1, "a");
            use.use(job);
        }
        return (InMemoryChangelogWriter) log.writer();
    }

    /** The registration of a changelog, and a record of it with another kind or length. */
    private static InMemoryChangelogWriter with(
            InMemoryChangelogWriter log, LogRecord record, RecordKind kind, int moreBytes)
            throws IOException {
        InMemoryChangelogWriter changed = new InMemoryChangelogWriter();
        copy(log.record(0), changed, log.record(0).keyGroup());
        int length = record.keyLength() + record.payloadLength() + moreBytes;
        byte[] bytes =
                Arrays.copyOfRange(
                        record.buffer(), record.keyOffset(), record.keyOffset() + length);
        changed.append(
                kind,
                record.keyGroup(),
                record.stateId(),
                bytes,
                record.keyPrefixLength(),
                record.keyLength(),
                length);
        return changed;
    }

    private static void copy(LogRecord record, InMemoryChangelogWriter target, int keyGroup)
            throws IOException {
        int length = record.keyLength() + record.payloadLength();
        target.append(
                record.kind(),
                keyGroup,
                record.stateId(),
                Arrays.copyOfRange(
                        record.buffer(), record.keyOffset(), record.keyOffset() + length),
                record.keyPrefixLength(),
                record.keyLength(),
                length);
    }

    private static void assertCorrupt(InMemoryChangelogWriter log, String... parts)
            throws Exception {
        for (Delegate.Kind kind : Delegate.Kind.values()) {
            try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE);
                    LogReplayer<Integer> replayer = replayer(delegate)) {
                assertThatThrownBy(
                                () ->
                                        replayer.replay(
                                                log.open(),
                                                KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1)))
                        .isInstanceOf(CorruptLogException.class)
                        .hasMessageContainingAll(parts)
                        .hasMessageContaining("restore from another checkpoint");
            }
        }
    }

    private static LogReplayer<Integer> replayer(Delegate<Integer> delegate) {
        return new LogReplayer<>(delegate.backend(), LogReplayerTest.class.getClassLoader());
    }
}
