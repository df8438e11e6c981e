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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.StringValueSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.types.StringValue;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A job that registers the same timers over and over, restores and materializes in between. */
class RepeatedTimersTest {

    private static final long SEED = Long.getLong("repeated-timers.seed", 1);
    private static final int ATTEMPTS = 6;
    private static final int CHECKPOINTS = 4;
    private static final int STEPS = 40;
    private static final int KEYS = 5;
    private static final int TIMES = 6;

    @TempDir Path directory;

    private final FakeJobManager jobManager = new FakeJobManager();
    private final Random random = new Random(SEED);
    private final Set<String> expected = new TreeSet<>();

    @ParameterizedTest
    @EnumSource
    void timersOfImmutableKeys_areRestored(Delegate delegate) throws Exception {
        timersAreRestored(delegate, StringSerializer.INSTANCE, number -> "key " + number);
    }

    @ParameterizedTest
    @EnumSource
    void timersOfMutableKeys_areRestored(Delegate delegate) throws Exception {
        timersAreRestored(
                delegate,
                StringValueSerializer.INSTANCE,
                number -> new StringValue("key " + number));
    }

    private <K> void timersAreRestored(
            Delegate delegate, TypeSerializer<K> serializer, IntFunction<K> keys) throws Exception {
        KeyedStateHandle latest = null;
        int materializations = 0;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try (KeyedTask<K> task = KeyedTask.start(directory, delegate, serializer, jobManager)) {
                KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, VoidNamespace>> timers =
                        timers(task);
                assertThat(contents(timers)).as("attempt %d", attempt).isEqualTo(expected);
                for (int checkpoint = 0; checkpoint < CHECKPOINTS; checkpoint++) {
                    use(timers, keys);
                    if (random.nextInt(3) == 0 && task.materialize()) {
                        materializations++;
                        use(timers, keys);
                    }
                    latest = task.checkpoint(CHECKPOINTS * attempt + checkpoint + 1);
                }
            }
        }
        assertThat(materializations).isPositive();
        assertThat(rescaled(delegate, serializer, latest)).isEqualTo(expected);
    }

    private <K> void use(
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, VoidNamespace>> timers,
            IntFunction<K> keys) {
        for (int step = 0; step < STEPS; step++) {
            long time = random.nextInt(TIMES);
            int key = random.nextInt(KEYS);
            for (int times = 1 + random.nextInt(2); times > 0; times--) {
                TimerHeapInternalTimer<K, VoidNamespace> timer =
                        new TimerHeapInternalTimer<>(time, keys.apply(key), VoidNamespace.INSTANCE);
                if (step % 10 < 7) {
                    timers.add(timer);
                    expected.add(text(timer));
                } else {
                    timers.remove(timer);
                    expected.remove(text(timer));
                }
            }
            if (random.nextInt(10) == 0 && !timers.isEmpty()) {
                fire(timers);
            }
        }
    }

    private <K> void fire(
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, VoidNamespace>> timers) {
        TimerHeapInternalTimer<K, VoidNamespace> fired = timers.poll();
        assertThat(expected.remove(text(fired))).isTrue();
        timers.remove(fired);
        if (random.nextBoolean()) {
            timers.add(fired);
            expected.add(text(fired));
        }
    }

    private <K> Set<String> rescaled(
            Delegate delegate, TypeSerializer<K> serializer, KeyedStateHandle checkpoint)
            throws Exception {
        Set<String> all = new TreeSet<>();
        int half = TestTask.KEY_GROUPS / 2;
        for (KeyGroupRange part :
                List.of(
                        KeyGroupRange.of(0, half - 1),
                        KeyGroupRange.of(half, TestTask.KEY_GROUPS - 1))) {
            try (KeyedTask<K> task =
                    KeyedTask.startSubtask(
                            directory,
                            delegate,
                            serializer,
                            getClass().getClassLoader(),
                            part,
                            List.of(checkpoint))) {
                all.addAll(contents(timers(task)));
            }
        }
        return all;
    }

    /** After a restore: RocksDB's iterator does not show all that changed since. */
    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    private static <K> Set<String> contents(
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, VoidNamespace>> timers)
            throws Exception {
        Set<String> contents = new TreeSet<>();
        try (CloseableIterator<TimerHeapInternalTimer<K, VoidNamespace>> all = timers.iterator()) {
            while (all.hasNext()) {
                assertThat(contents.add(text(all.next()))).isTrue();
            }
        }
        return contents;
    }

    private static <K>
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, VoidNamespace>> timers(
                    KeyedTask<K> task) {
        return task.timers("timers", VoidNamespaceSerializer.INSTANCE);
    }

    private static String text(TimerHeapInternalTimer<?, ?> timer) {
        return timer.getTimestamp() + " " + timer.getKey();
    }
}
