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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import dev.dstl.log.api.RecordKind;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LoggedStateTest {

    private static final String BAD = VersionedStringSerializer.BAD;

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void aSerializerThatThrows_leavesDelegateAndLogAsTheyWere(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            VersionedStringSerializer serializer = new VersionedStringSerializer(1);
            InternalValueState<Integer, String, String> value =
                    value(job.create(new ValueStateDescriptor<>("v", serializer)));
            InternalListState<Integer, String, String> list =
                    list(job.create(new ListStateDescriptor<>("l", serializer)));
            InternalMapState<Integer, String, String, String> map =
                    map(job.create(new MapStateDescriptor<>("m", serializer, serializer)));
            InternalReducingState<Integer, String, String> reducing =
                    reducing(
                            job.create(
                                    new ReducingStateDescriptor<>(
                                            "r", String::concat, serializer)));
            job.at(1, "a");
            for (InternalKvState<Integer, String, ?> state : List.of(value, list, map, reducing)) {
                state.setCurrentNamespace("a");
            }
            value.update("v");
            list.add("l");
            map.put("k", "m");
            reducing.add("r");
            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();
            int before = log.size();

            assertThatThrownBy(() -> value.update(BAD)).isInstanceOf(Exception.class);
            assertThatThrownBy(() -> list.add(BAD)).isInstanceOf(Exception.class);
            assertThatThrownBy(() -> list.addAll(List.of("x", BAD))).isInstanceOf(Exception.class);
            assertThatThrownBy(() -> list.update(List.of("x", BAD))).isInstanceOf(Exception.class);
            assertThatThrownBy(() -> map.put("k", BAD)).isInstanceOf(Exception.class);
            assertThatThrownBy(() -> map.put(BAD, "m")).isInstanceOf(Exception.class);
            assertThatThrownBy(() -> map.iterator().next().setValue(BAD))
                    .isInstanceOf(Exception.class);
            assertThatThrownBy(() -> reducing.add(BAD)).isInstanceOf(Exception.class);

            assertThat(log.size()).isEqualTo(before);
            assertThat(job.fullCheckpointsRequired).isZero();
            assertThat(value.value()).isEqualTo("v");
            assertThat(list.get()).containsExactly("l");
            assertThat(map.entries()).hasSize(1);
            assertThat(map.get("k")).isEqualTo("m");
            assertThat(reducing.get()).isEqualTo("r");

            value.update("next");
            assertThat(log.kinds().get(log.size() - 1)).isEqualTo(RecordKind.PUT);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void whatIsLogged_isWhatWasWritten_notWhatTheJobMadeOfItLater(Delegate.Kind kind)
            throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            InternalValueState<Integer, String, List<Integer>> state = lists(job);
            job.at(1, "a");
            state.setCurrentNamespace("a");
            List<Integer> reused = new ArrayList<>(List.of(1));
            state.update(reused);
            // the HashMap backend returns the object that it stores
            List<Integer> read = state.value();
            read.add(2);
            state.update(read);
            reused.clear();

            try (LoggedJob restored = LoggedJob.restore(kind, job.log)) {
                InternalValueState<Integer, String, List<Integer>> again = lists(restored);
                restored.at(1, "a");
                again.setCurrentNamespace("a");
                assertThat(again.value()).containsExactly(1, 2);
            }
        }
    }

    /** The job may use one list for all keys; Flink's backends copy it. */
    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void aListThatTheJobUsesAgain_isNotTheState(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            InternalListState<Integer, String, Integer> list =
                    list(job.create(new ListStateDescriptor<>("l", IntSerializer.INSTANCE)));
            List<Integer> reused = new ArrayList<>();
            list.setCurrentNamespace("a");
            for (int key = 1; key <= 3; key++) {
                job.at(key, "a");
                reused.clear();
                reused.add(key);
                list.update(reused);
            }
            list.add(4);
            reused.clear();

            job.at(1, "a");
            assertThat(list.get()).containsExactly(1);
            job.at(2, "a");
            assertThat(list.get()).containsExactly(2);
            job.at(3, "a");
            assertThat(list.get()).containsExactly(3, 4);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void mergeNamespaces_logsTheResultAndKeepsTheCurrentNamespace(Delegate.Kind kind)
            throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.sum.add(1L);
            job.at(1, "b");
            job.sum.add(2L);
            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();
            int before = log.size();

            job.sum.mergeNamespaces("a", List.of("b"));

            assertThat(log.kinds().subList(before, log.size()))
                    .containsExactly(RecordKind.DELETE, RecordKind.PUT);
            assertThat(job.sum.get()).as("still in namespace b").isNull();
            job.at(1, "a");
            assertThat(job.sum.get()).isEqualTo(3L);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void mergeForWhichTheFunctionReturnsNull_isAlsoOneAfterARestore(Delegate.Kind kind)
            throws Exception {
        ReducingStateDescriptor<String> vanishing =
                new ReducingStateDescriptor<>(
                        "vanishing", (one, other) -> null, StringSerializer.INSTANCE);
        InMemoryLog log = InMemoryLog.withRecordKeys();
        try (LoggedJob job = LoggedJob.start(kind, log)) {
            InternalReducingState<Integer, String, String> state =
                    (InternalReducingState<Integer, String, String>) job.create(vanishing);
            job.at(1, "a");
            state.setCurrentNamespace("a");
            state.add("target");
            state.setCurrentNamespace("b");
            state.add("source");

            state.mergeNamespaces("a", List.of("b"));

            state.setCurrentNamespace("a");
            assertThat(state.get()).isNull();
        }
        try (LoggedJob restored = LoggedJob.restore(kind, log)) {
            InternalReducingState<Integer, String, String> state =
                    (InternalReducingState<Integer, String, String>) restored.create(vanishing);
            restored.at(1, "a");
            state.setCurrentNamespace("a");
            assertThat(state.get()).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void addToReducingAndAggregatingState_logsTheResult(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.sum.add(1L);
            job.sum.add(2L);

            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();
            assertThat(log.kinds())
                    .containsExactly(RecordKind.META, RecordKind.PUT, RecordKind.PUT);
            assertThat(log.record(2).payloadLength()).isEqualTo(8);
            assertThat(log.record(2).buffer()[log.record(2).payloadOffset() + 7])
                    .isEqualTo((byte) 3);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void withoutAKey_nothingIsWrittenAndTheReasonIsSaid(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.value.setCurrentNamespace("a");

            assertThatThrownBy(() -> job.value.update("v"))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessageContaining("No key is set")
                    .hasMessageContaining("state 'value' (VALUE)");

            assertThat(((InMemoryChangelogWriter) job.log.writer()).size()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void nullsInLists_areRefused(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            List<Integer> withNull = new ArrayList<>();
            withNull.add(null);

            assertThatThrownBy(() -> job.list.add(null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> job.list.addAll(null))
                    .isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> job.list.addAll(withNull))
                    .isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> job.list.update(withNull))
                    .isInstanceOf(NullPointerException.class);

            assertThat(((InMemoryChangelogWriter) job.log.writer()).size()).isZero();
        }
    }

    private static InternalValueState<Integer, String, List<Integer>> lists(LoggedJob job)
            throws Exception {
        return value(
                job.create(
                        new ValueStateDescriptor<>(
                                "lists", new ListSerializer<>(IntSerializer.INSTANCE))));
    }

    private static <V> InternalValueState<Integer, String, V> value(
            InternalKvState<Integer, String, V> state) {
        return (InternalValueState<Integer, String, V>) state;
    }

    private static <V> InternalListState<Integer, String, V> list(
            InternalKvState<Integer, String, List<V>> state) {
        return (InternalListState<Integer, String, V>) state;
    }

    @SuppressWarnings("unchecked")
    private static <V> InternalMapState<Integer, String, V, V> map(
            InternalKvState<Integer, String, ?> state) {
        return (InternalMapState<Integer, String, V, V>) state;
    }

    private static <V> InternalReducingState<Integer, String, V> reducing(
            InternalKvState<Integer, String, V> state) {
        return (InternalReducingState<Integer, String, V>) state;
    }
}
