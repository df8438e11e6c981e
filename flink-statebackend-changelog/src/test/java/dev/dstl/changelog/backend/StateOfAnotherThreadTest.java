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
import dev.dstl.changelog.metrics.MaterializationMetrics;
import dev.dstl.log.DstlStorage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * PyFlink in process mode: the requests of the Python process for keyed state run on a thread of
 * their own, while the task thread sets and fires timers, and runs mails. Only where a checkpoint
 * begins has the Python process nothing to do.
 */
class StateOfAnotherThreadTest {

    private static final String OPERATOR =
            "ExternalPythonKeyedProcessOperator_90bea66de1c231edf33913ecd54406c1_(1/1)";

    private static final long SEEDS = Long.getLong("another-thread.seeds", 1);
    private static final int KEYS = 100;
    private static final int BUNDLES = 4;
    private static final int REQUESTS = 1_000;

    @TempDir private Path directory;

    private final ExecutorService requests = Executors.newSingleThreadExecutor();
    private final FakeJobManager jobManager = new FakeJobManager();
    private final Random random = new Random();

    private final Map<Integer, String> values = new TreeMap<>();
    private final Map<Integer, List<String>> lists = new TreeMap<>();
    private final Map<Integer, Map<String, String>> maps = new TreeMap<>();
    private final TreeSet<Long> timers = new TreeSet<>();
    private long clock;

    @AfterEach
    void stop() {
        requests.shutdownNow();
    }

    static Stream<Arguments> runs() {
        return LongStream.range(0, SEEDS)
                .boxed()
                .flatMap(
                        seed ->
                                Stream.of(Delegate.values())
                                        .map(delegate -> Arguments.of(delegate, seed)));
    }

    @ParameterizedTest
    @MethodSource("runs")
    void stateOfAnotherThread_andTimersOfTheTask_areRestored(Delegate delegate, long seed)
            throws Exception {
        random.setSeed(seed);
        long materializations = 0;
        for (int attempt = 0; attempt < 3; attempt++) {
            try (TestTask task = start(delegate)) {
                assertContents(task);
                for (int bundle = 1; bundle <= BUNDLES; bundle++) {
                    runBundle(task);
                    task.checkpoint(BUNDLES * attempt + bundle);
                }
                materializations +=
                        task.metrics.count(MaterializationMetrics.COMPLETED_MATERIALIZATION);
            }
        }
        assertThat(materializations).isPositive();
        try (TestTask task = start(delegate)) {
            assertContents(task);
        }
    }

    private TestTask start(Delegate delegate) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        configuration.setString("state.changelog.dstl.upload.max-age", "1 ms");
        return TestTask.startOperator(
                OPERATOR,
                directory,
                delegate,
                TestTaskStateManager.builder()
                        .setStateChangelogStorage(
                                new DstlStorage(
                                        new JobID(), configuration, new UnregisteredMetricsGroup()))
                        .build(),
                jobManager);
    }

    /** Runs requests on the other thread; at the same time, timers and mails on this one. */
    private void runBundle(TestTask task) throws Exception {
        long seed = random.nextLong();
        CompletableFuture<?> bundle =
                CompletableFuture.runAsync(() -> request(task, new Random(seed)), requests);
        for (int i = 0; i < REQUESTS || !bundle.isDone(); i++) {
            if (i < REQUESTS) {
                useTimers(task);
            }
            if (i % 20 == 0) {
                task.changelog().materialize();
                task.mailbox.runAll();
            }
        }
        bundle.join();
    }

    private void request(TestTask task, Random random) {
        try {
            for (int i = 0; i < REQUESTS; i++) {
                change(task, random.nextInt(KEYS), "v".repeat(random.nextInt(200)), random);
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void change(TestTask task, int key, String value, Random random) throws Exception {
        switch (random.nextInt(6)) {
            case 0:
                task.value(key).update(value);
                values.put(key, value);
                break;
            case 1:
                task.value(key).clear();
                values.remove(key);
                break;
            case 2:
                task.list(key).add(value);
                lists.computeIfAbsent(key, any -> new ArrayList<>()).add(value);
                break;
            case 3:
                task.list(key).clear();
                lists.remove(key);
                break;
            case 4:
                String mapKey = "k" + random.nextInt(10);
                task.map(key).put(mapKey, value);
                maps.computeIfAbsent(key, any -> new TreeMap<>()).put(mapKey, value);
                break;
            default:
                task.map(key).clear();
                maps.remove(key);
        }
    }

    private void useTimers(TestTask task) {
        if (random.nextInt(20) < 11) {
            long time = clock + random.nextInt(1_000);
            task.timers().add(TestTask.timer((int) (time % KEYS), time));
            timers.add(time);
        } else if (!timers.isEmpty()) {
            assertThat(task.timers().poll().getTimestamp()).isEqualTo(timers.pollFirst());
        }
        clock++;
    }

    private void assertContents(TestTask task) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            assertThat(task.value(key).value()).as("value of %s", key).isEqualTo(values.get(key));
            ListState<String> list = task.list(key);
            assertThat(list.get() == null ? List.<String>of() : list.get())
                    .as("list of %s", key)
                    .containsExactlyElementsOf(lists.getOrDefault(key, List.of()));
            MapState<String, String> map = task.map(key);
            Map<String, String> entries = new TreeMap<>();
            map.entries().forEach(entry -> entries.put(entry.getKey(), entry.getValue()));
            assertThat(entries).as("map of %s", key).isEqualTo(maps.getOrDefault(key, Map.of()));
        }
        assertThat(task.timerTimes()).isEqualTo(timers);
    }
}
