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

package dev.dstl.changelog.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.changelog.record.ChangelogAppender;
import dev.dstl.log.api.RecordKind;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.StringValueSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.types.StringValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LoggedPriorityQueueTest {

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void timersCarryTheKeyGroupOfTheirElement_whateverKeyIsCurrent(Delegate.Kind kind)
            throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();
            job.timers.add(LoggedJob.timer(1, 3, "a"));
            assertThat(log.record(1).keyGroup()).isEqualTo(LoggedJob.keyGroup(3));

            job.at(5, "b");
            job.timers.addAll(List.of(LoggedJob.timer(2, 4, "a"), LoggedJob.timer(3, 6, "a")));
            job.timers.remove(LoggedJob.timer(3, 6, "a"));
            job.timers.poll();

            assertThat(log.kinds())
                    .containsExactly(
                            RecordKind.META,
                            RecordKind.PUT,
                            RecordKind.PUT,
                            RecordKind.PUT,
                            RecordKind.DELETE,
                            RecordKind.DELETE);
            assertThat(log.record(2).keyGroup()).isEqualTo(LoggedJob.keyGroup(4));
            assertThat(log.record(3).keyGroup()).isEqualTo(LoggedJob.keyGroup(6));
            assertThat(log.record(4).keyGroup()).isEqualTo(LoggedJob.keyGroup(6));
            assertThat(log.record(5).keyGroup()).isEqualTo(LoggedJob.keyGroup(3));
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void pollOfAnEmptyQueue_logsNothing(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            assertThat(job.timers.poll()).isNull();

            assertThat(((InMemoryChangelogWriter) job.log.writer()).size()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void timerThatIsRegisteredTwice_isLoggedOnce(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.timers.add(LoggedJob.timer(1, 3, "a"));
            job.timers.add(LoggedJob.timer(2, 3, "a"));
            job.timers.addAll(List.of(LoggedJob.timer(1, 3, "a"), LoggedJob.timer(2, 3, "a")));

            assertThat(kinds(job)).containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.PUT);
            assertThat(job.pollAllTimers()).hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void timerThatHasFired_isLoggedAgain_butRemovedOnce(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.timers.add(LoggedJob.timer(1, 3, "a"));
            job.timers.poll();
            job.timers.remove(LoggedJob.timer(1, 3, "a"));
            job.timers.add(LoggedJob.timer(1, 3, "a"));

            assertThat(kinds(job))
                    .containsExactly(
                            RecordKind.META, RecordKind.PUT, RecordKind.DELETE, RecordKind.PUT);
        }
    }

    @Test
    void timerInRocksDb_isLoggedAgainBehindANewBase() throws Exception {
        try (LoggedJob job =
                LoggedJob.start(Delegate.Kind.ROCKS_DB, InMemoryLog.withRecordKeys())) {
            job.timers.add(LoggedJob.timer(1, 3, "a"));
            job.appender.startNewRange();
            job.timers.add(LoggedJob.timer(1, 3, "a"));
            job.timers.add(LoggedJob.timer(1, 3, "a"));

            assertThat(kinds(job))
                    .containsExactly(
                            RecordKind.META, RecordKind.PUT, RecordKind.META, RecordKind.PUT);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void ofAnOperatorWithSeveralThreads_everyTimerIsLogged(Delegate.Kind kind) throws Exception {
        InMemoryChangelogWriter log = new InMemoryChangelogWriter();
        try (Delegate<Integer> delegate = kind.create(IntSerializer.INSTANCE)) {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> timers =
                    new LoggedStateRegistry<>(
                                    delegate.backend(), new ChangelogAppender(log, () -> {}, true))
                            .createQueue(
                                    "timers",
                                    new TimerSerializer<>(
                                            IntSerializer.INSTANCE, StringSerializer.INSTANCE),
                                    false);

            timers.add(LoggedJob.timer(1, 3, "a"));
            timers.add(LoggedJob.timer(1, 3, "a"));
        }

        assertThat(log.kinds()).containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.PUT);
    }

    /** On the heap it is still the first timer, but reads as the second. */
    @Test
    void timerOfAReusedKeyObject_isLoggedForEachContent() throws Exception {
        InMemoryChangelogWriter log = new InMemoryChangelogWriter();
        TypeSerializer<StringValue> keys = StringValueSerializer.INSTANCE;
        try (Delegate<StringValue> delegate = Delegate.Kind.HASH_MAP.create(keys)) {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<StringValue, String>> timers =
                    new LoggedStateRegistry<>(delegate.backend(), new ChangelogAppender(log))
                            .createQueue(
                                    "timers",
                                    new TimerSerializer<>(keys, StringSerializer.INSTANCE),
                                    false);
            StringValue key = new StringValue("Aa");
            timers.add(new TimerHeapInternalTimer<>(1, key, "a"));
            key.setValue("BB");
            assertThat(key.hashCode()).isEqualTo(new StringValue("Aa").hashCode());
            timers.add(new TimerHeapInternalTimer<>(1, key, "a"));

            assertThat(timers.size()).isEqualTo(1);
        }
        assertThat(log.kinds()).containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.PUT);
    }

    private static List<RecordKind> kinds(LoggedJob job) {
        return ((InMemoryChangelogWriter) job.log.writer()).kinds();
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void relog_writesAllTimersIntoTheNewRange(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.timers.add(LoggedJob.timer(1, 3, "a"));
            job.timers.add(LoggedJob.timer(2, 4, "b"));
            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();

            job.appender.startNewRange();
            job.registry.relogQueues();

            assertThat(log.kinds().subList(3, log.size()))
                    .containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.PUT);
        }
    }

    @Test
    void timersAreRecordedWithASerializerOfTheirOwn_sinceAnotherThreadMayUseThatOfTheKeys()
            throws Exception {
        TimerSerializer<Integer, String> inUse =
                new TimerSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE) {
                    @Override
                    public void serialize(
                            TimerHeapInternalTimer<Integer, String> timer, DataOutputView target) {
                        throw new AssertionError("Another thread uses it");
                    }

                    @Override
                    public TimerSerializer<Integer, String> duplicate() {
                        return new TimerSerializer<>(
                                IntSerializer.INSTANCE, StringSerializer.INSTANCE);
                    }
                };
        try (LoggedJob job =
                LoggedJob.start(Delegate.Kind.HASH_MAP, InMemoryLog.withRecordKeys())) {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, String>> timers =
                    job.registry.createQueue("more timers", inUse, false);

            timers.add(LoggedJob.timer(1, 3, "a"));

            assertThat(timers.poll()).isEqualTo(LoggedJob.timer(1, 3, "a"));
        }
    }
}
