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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.pressure.SpillArbiter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Random;
import java.util.function.LongFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Timers of a backend stay on the heap, are counted, and take the room of state that spills. */
class TimersTest {

    private static final int KEY_GROUPS = 128;
    private static final KeyGroupRange RANGE = new KeyGroupRange(0, KEY_GROUPS - 1);
    private static final int KEYS_PER_REPORT = 4096;
    private static final int RESTORED = 20_000;

    /** To be measured; 10000000 needs {@code -Dtest.heap=4g}. */
    private static final int MEASURED = Integer.getInteger("timers.measured", 1_000_000);

    private enum Format {
        HEAP,
        CANONICAL
    }

    /** Keys and namespaces of timers. */
    private enum Kind {
        LONG(false, false),
        LONG_IN_WINDOW(false, true),
        STRING(true, false),
        STRING_IN_WINDOW(true, true);

        private final boolean stringKey;
        private final boolean window;

        Kind(boolean stringKey, boolean window) {
            this.stringKey = stringKey;
            this.window = window;
        }

        @SuppressWarnings("unchecked") // of what key() returns
        TypeSerializer<Object> keySerializer() {
            return (TypeSerializer<Object>)
                    (TypeSerializer<?>)
                            (stringKey ? StringSerializer.INSTANCE : LongSerializer.INSTANCE);
        }

        @SuppressWarnings("unchecked") // of what namespace() returns
        TypeSerializer<Object> namespaceSerializer() {
            return (TypeSerializer<Object>)
                    (TypeSerializer<?>)
                            (window
                                    ? new TimeWindow.Serializer()
                                    : VoidNamespaceSerializer.INSTANCE);
        }

        Object key(long number) {
            return stringKey ? (Object) ("customer-" + number) : (Object) number;
        }

        Object namespace(long start) {
            return window ? new TimeWindow(start, start + 1000) : VOID;
        }
    }

    private static final VoidNamespace VOID = VoidNamespace.INSTANCE;

    @TempDir Path disk;
    private final Configuration config = new Configuration();
    private final Gauges gauges = new Gauges();
    private MockEnvironment environment;

    @BeforeEach
    void open() {
        config.setString("state.backend.spillable.directories", disk.toString());
        environment = MockEnvironment.builder().build();
    }

    @AfterEach
    void close() throws Exception {
        environment.close();
        assertThat(disk).isEmptyDirectory();
    }

    private <K> AbstractKeyedStateBackend<K> backend(
            TypeSerializer<K> keySerializer, Collection<KeyedStateHandle> handles)
            throws Exception {
        return KeyedBackends.create(
                new SpillableStateBackend().configure(config, getClass().getClassLoader()),
                keySerializer,
                KEY_GROUPS,
                RANGE,
                handles,
                gauges,
                environment);
    }

    private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>>
            timers(AbstractKeyedStateBackend<Long> backend) {
        return backend.create(
                "timers",
                new TimerSerializer<>(LongSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
    }

    private static TimerHeapInternalTimer<Long, VoidNamespace> timer(long key) {
        return new TimerHeapInternalTimer<>(key, key, VOID);
    }

    /** Selects keys until sizes have been counted again. */
    private static <K> void select(AbstractKeyedStateBackend<K> backend, LongFunction<K> keys) {
        for (int i = 0; i < KEYS_PER_REPORT; i++) {
            backend.setCurrentKey(keys.apply(i));
        }
    }

    private long gauge(String name) {
        return ((Number) gauges.value(name)).longValue();
    }

    /** Sets the heap size on which decisions are based. */
    private void giveHeap(long bytes) throws Exception {
        environment
                .getSharedResources()
                .getOrAllocateSharedResource(
                        TaskManagerArbiter.NAME,
                        this,
                        size -> new SpillArbiter(() -> 0, bytes, arbiter -> () -> {}),
                        0);
    }

    private Collection<KeyedStateHandle> snapshot(Format format, boolean withTimers)
            throws Exception {
        AbstractKeyedStateBackend<Long> backend =
                backend(LongSerializer.INSTANCE, Collections.emptyList());
        ValueState<Long> value = NamedStates.value(backend);
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> timers =
                timers(backend);
        for (long key = 0; key < RESTORED; key++) {
            backend.setCurrentKey(key);
            value.update(key);
            if (withTimers) {
                timers.add(timer(key));
            }
        }
        try {
            return KeyedBackends.handles(
                    format == Format.CANONICAL
                            ? KeyedBackends.savepoint(backend, 1)
                            : KeyedBackends.checkpoint(backend, 1));
        } finally {
            backend.dispose();
        }
    }

    @Test
    void timers_areCountedAsTheyComeAndGo() throws Exception {
        AbstractKeyedStateBackend<Long> backend =
                backend(LongSerializer.INSTANCE, Collections.emptyList());
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Long, VoidNamespace>> timers =
                timers(backend);
        for (long key = 0; key < 1000; key++) {
            timers.add(timer(key));
        }
        select(backend, Long::valueOf);
        assertThat(gauge("timers")).isEqualTo(1000);
        assertThat(gauge("timerBytesEstimate")).isBetween(80_000L, 130_000L);

        timers.remove(timer(999));
        timers.poll();
        select(backend, Long::valueOf);
        assertThat(gauge("timers")).isEqualTo(998);
        assertThat(gauge("heapEntries")).as("timers are no state").isZero();
        backend.dispose();
    }

    @ParameterizedTest
    @EnumSource
    void restoredTimers_areCountedBeforeTheFirstKey(Format format) throws Exception {
        Collection<KeyedStateHandle> snapshot = snapshot(format, true);

        AbstractKeyedStateBackend<Long> restored = backend(LongSerializer.INSTANCE, snapshot);

        assertThat(gauge("timers")).isEqualTo(RESTORED);
        assertThat(timers(restored).size()).isEqualTo(RESTORED);
        restored.dispose();
    }

    @ParameterizedTest
    @EnumSource
    void restoredState_leavesTheHeapToTimers(Format format) throws Exception {
        Collection<KeyedStateHandle> state = snapshot(format, false);
        Collection<KeyedStateHandle> stateAndTimers = snapshot(format, true);
        // More than the state takes when spilling ends, less than the timers take with it.
        giveHeap(5_500_000);

        AbstractKeyedStateBackend<Long> restored = backend(LongSerializer.INSTANCE, state);
        restored.setCurrentKey(0L);
        assertThat(gauge("spilledEntries")).isZero();
        restored.dispose();

        restored = backend(LongSerializer.INSTANCE, stateAndTimers);
        restored.setCurrentKey(0L);
        assertThat(gauge("spilledEntries")).isBetween(1000L, RESTORED - 1000L);
        assertThat(gauge("timers")).isEqualTo(RESTORED);
        restored.dispose();
    }

    @ParameterizedTest
    @EnumSource
    void theEstimate_isWithinThirtyPercentOfTheHeapThatTimersTake(Kind kind) throws Exception {
        AbstractKeyedStateBackend<Object> backend =
                backend(kind.keySerializer(), Collections.emptyList());
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> timers =
                backend.create(
                        "timers",
                        new TimerSerializer<>(kind.keySerializer(), kind.namespaceSerializer()));
        Random random = new Random(17);
        long before = liveBytes();
        for (int i = 0; i < MEASURED; i++) {
            // Keys and windows of their own, as those of records are.
            timers.add(
                    new TimerHeapInternalTimer<>(
                            1_700_000_000_000L + random.nextInt(86_400_000),
                            kind.key(1_000_000 + i),
                            kind.namespace(1_700_000_000_000L + random.nextInt(86_400))));
        }
        long measured = liveBytes() - before;
        select(backend, kind::key);

        assertThat(timers.size()).isEqualTo(MEASURED);
        assertThat(gauge("timers")).isEqualTo(MEASURED);
        System.out.printf(
                "%s: %d timers take %d bytes, %.1f each, estimated %.1f%n",
                kind,
                MEASURED,
                measured,
                (double) measured / MEASURED,
                (double) gauge("timerBytesEstimate") / MEASURED);
        assertThat((double) gauge("timerBytesEstimate")).isBetween(0.7 * measured, 1.3 * measured);
        backend.dispose();
    }

    private static long liveBytes() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(20);
            least =
                    Math.min(
                            least,
                            ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
