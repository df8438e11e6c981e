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
import dev.dstl.changelog.record.ChangelogAppender;
import dev.dstl.changelog.record.StateRegistration;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.StringValueSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.types.StringValue;

/**
 * The base and the changelog behind it always contain the timers that are registered, although
 * timers that are registered again are not logged again. The table has four slots, so that timers
 * displace each other.
 */
class RepeatedTimersPropertyTest {

    private enum Kind {
        ADD,
        ADD_TWICE,
        ADD_ALL,
        REMOVE,
        REMOVE_TWICE,
        POLL,
        POLL_AND_REMOVE,
        REGISTER_QUEUE_AGAIN,
        MATERIALIZE,
        FAIL_TO_APPEND
    }

    private static final class Access {
        private final Kind kind;
        private final int timer;

        Access(Kind kind, int timer) {
            this.kind = kind;
            this.timer = timer;
        }

        @Override
        public String toString() {
            return kind + " " + timer;
        }
    }

    @Provide
    Arbitrary<List<Access>> accesses() {
        return Combinators.combine(
                        Arbitraries.frequencyOf(
                                Tuple.of(8, Arbitraries.of(Kind.ADD, Kind.ADD_TWICE, Kind.ADD_ALL)),
                                Tuple.of(
                                        4,
                                        Arbitraries.of(
                                                Kind.REMOVE,
                                                Kind.REMOVE_TWICE,
                                                Kind.POLL,
                                                Kind.POLL_AND_REMOVE)),
                                Tuple.of(
                                        1,
                                        Arbitraries.of(
                                                Kind.REGISTER_QUEUE_AGAIN,
                                                Kind.MATERIALIZE,
                                                Kind.FAIL_TO_APPEND))),
                        Arbitraries.integers().between(0, 11))
                .as(Access::new)
                .list()
                .ofMaxSize(150);
    }

    @Property(tries = 300)
    void onTheHeap(@ForAll("accesses") List<Access> accesses) throws Exception {
        try (Queue<Integer> queue =
                new Queue<>(Delegate.Kind.HASH_MAP, IntSerializer.INSTANCE, key -> key)) {
            accesses.forEach(queue::perform);
            queue.end();
        }
    }

    @Property(tries = 300)
    void onTheHeap_ofMutableKeys(@ForAll("accesses") List<Access> accesses) throws Exception {
        try (Queue<StringValue> queue = ofMutableKeys(Delegate.Kind.HASH_MAP)) {
            accesses.forEach(queue::perform);
            queue.end();
        }
    }

    @Property(tries = 50)
    void onTheHeapBesideRocksDb(@ForAll("accesses") List<Access> accesses) throws Exception {
        try (Queue<StringValue> queue = ofMutableKeys(Delegate.Kind.ROCKS_DB_WITH_HEAP_TIMERS)) {
            accesses.forEach(queue::perform);
            queue.end();
        }
    }

    @Property(tries = 80)
    void inRocksDb(@ForAll("accesses") List<Access> accesses) throws Exception {
        try (Queue<Integer> queue =
                new Queue<>(Delegate.Kind.ROCKS_DB, IntSerializer.INSTANCE, key -> key)) {
            accesses.forEach(queue::perform);
            queue.end();
        }
    }

    private static Queue<StringValue> ofMutableKeys(Delegate.Kind kind) throws Exception {
        return new Queue<>(
                kind, StringValueSerializer.INSTANCE, key -> new StringValue(String.valueOf(key)));
    }

    private interface Keys<K> {
        K of(int number);
    }

    /** A queue, and the timers that it and a restored one must contain. */
    private static final class Queue<K> extends InMemoryChangelogWriter implements AutoCloseable {

        private final Delegate.Kind kind;
        private final Keys<K> keys;
        private final Delegate<K> delegate;
        private final TypeSerializer<TimerHeapInternalTimer<K, String>> serializer;
        private final ChangelogAppender appender;
        private final LoggedPriorityQueue<TimerHeapInternalTimer<K, String>> queue;
        private final Set<String> expected = new TreeSet<>();
        private final Set<String> base = new TreeSet<>();
        private int baseTo;
        private boolean failing;
        private boolean needsBase;

        Queue(Delegate.Kind kind, TypeSerializer<K> keySerializer, Keys<K> keys) throws Exception {
            this.kind = kind;
            this.keys = keys;
            delegate = kind.create(keySerializer);
            serializer = new TimerSerializer<>(keySerializer, StringSerializer.INSTANCE);
            appender = new ChangelogAppender(this, () -> needsBase = true, false);
            queue =
                    new LoggedPriorityQueue<>(
                            appender.register(
                                    StateRegistration.ofQueue("timers", keySerializer, serializer)),
                            Delegate.KEY_GROUPS,
                            create(),
                            serializer,
                            new RecentTimers(4));
        }

        private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, String>> create() {
            return delegate.backend().create("timers", serializer, true);
        }

        @Override
        public void append(
                RecordKind recordKind,
                int keyGroup,
                int stateId,
                byte[] bytes,
                int keyPrefixLength,
                int keyLength,
                int length)
                throws IOException {
            if (failing) {
                throw new IOException("expected");
            }
            super.append(recordKind, keyGroup, stateId, bytes, keyPrefixLength, keyLength, length);
        }

        void perform(Access access) {
            try {
                access(access.kind, access.timer);
                if (needsBase) {
                    materialize();
                }
                assertThat(restored()).as("after %s", access).isEqualTo(expected);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void access(Kind what, int number) throws IOException {
            switch (what) {
                case ADD_TWICE:
                    add(number);
                    add(number);
                    return;
                case ADD_ALL:
                    queue.addAll(List.of(timer(number), timer(number + 1), timer(number)));
                    expected.add(timer(number).toString());
                    expected.add(timer(number + 1).toString());
                    return;
                case REMOVE_TWICE:
                    remove(number);
                    remove(number);
                    return;
                case REMOVE:
                    remove(number);
                    return;
                case POLL:
                    poll();
                    return;
                case POLL_AND_REMOVE:
                    TimerHeapInternalTimer<K, String> polled = poll();
                    if (polled != null) {
                        queue.remove(polled);
                    }
                    return;
                case REGISTER_QUEUE_AGAIN:
                    queue.rebind(create(), serializer);
                    return;
                case MATERIALIZE:
                    materialize();
                    return;
                case FAIL_TO_APPEND:
                    failToAppend(number);
                    return;
                default:
                    add(number);
            }
        }

        private TimerHeapInternalTimer<K, String> timer(int number) {
            return new TimerHeapInternalTimer<>(number, keys.of(number % 3), "n");
        }

        private void add(int number) {
            queue.add(timer(number));
            expected.add(timer(number).toString());
        }

        private void remove(int number) {
            queue.remove(timer(number));
            expected.remove(timer(number).toString());
        }

        private TimerHeapInternalTimer<K, String> poll() {
            TimerHeapInternalTimer<K, String> polled = queue.poll();
            if (polled != null) {
                assertThat(expected.remove(polled.toString())).isTrue();
            }
            return polled;
        }

        /** The changelog lacks a change, until there is a new base. */
        private void failToAppend(int number) {
            failing = true;
            if (expected.contains(timer(number).toString())) {
                assertThatThrownBy(() -> queue.remove(timer(number)))
                        .isInstanceOf(UncheckedIOException.class);
                expected.remove(timer(number).toString());
            } else {
                assertThatThrownBy(() -> queue.add(timer(number)))
                        .isInstanceOf(UncheckedIOException.class);
                expected.add(timer(number).toString());
            }
            failing = false;
            // The job goes on; what it does until the next checkpoint is in the new base.
            if (number % 2 == 0) {
                add(number);
            }
        }

        private void materialize() throws IOException {
            needsBase = false;
            appender.startNewRange();
            baseTo = size();
            base.clear();
            if (kind == Delegate.Kind.ROCKS_DB_WITH_HEAP_TIMERS) {
                queue.relog();
            } else {
                base.addAll(expected);
            }
        }

        private Set<String> restored() throws IOException {
            Set<String> timers = new TreeSet<>(base);
            for (int i = baseTo; i < size(); i++) {
                LogRecord record = record(i);
                if (record.kind() == RecordKind.PUT) {
                    timers.add(timer(record));
                } else if (record.kind() == RecordKind.DELETE) {
                    timers.remove(timer(record));
                }
            }
            return timers;
        }

        private String timer(LogRecord record) throws IOException {
            return serializer
                    .deserialize(
                            new DataInputDeserializer(
                                    record.buffer(), record.keyOffset(), record.keyLength()))
                    .toString();
        }

        /** The delegate has got every change. */
        void end() throws IOException {
            List<String> polled = new ArrayList<>();
            while (!queue.isEmpty()) {
                polled.add(poll().toString());
                assertThat(restored()).isEqualTo(expected);
            }
            assertThat(polled).doesNotHaveDuplicates();
            assertThat(expected).isEmpty();
        }

        @Override
        public void close() {
            super.close();
            try {
                delegate.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
