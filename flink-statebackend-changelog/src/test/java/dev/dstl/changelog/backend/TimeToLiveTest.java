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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TimeToLiveTest {

    @TempDir private Path directory;

    @Test
    void incrementalCleanup_removesExpiredEntriesFromTheDelegate_andTheyStayRemoved()
            throws Exception {
        ValueStateDescriptor<String> descriptor =
                new ValueStateDescriptor<>("short-lived", String.class);
        descriptor.enableTimeToLive(
                StateTtlConfig.newBuilder(Duration.ofMillis(1))
                        .cleanupIncrementally(100, true)
                        .build());
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            for (int key = 0; key < 50; key++) {
                task.state(key, descriptor).update("v");
            }
            long expired = System.currentTimeMillis() + 2;
            while (System.currentTimeMillis() <= expired) {
                Thread.onSpinWait();
            }
            for (int key = 0; key < 1000; key++) {
                task.backend().setCurrentKey(key);
            }
            assertThat(task.changelog().numKeyValueStateEntries()).isZero();
            task.checkpoint(1);
        }
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            assertThat(task.state(1, descriptor).value()).isNull();
        }
    }

    static Stream<Arguments> changesOfMind() {
        return Stream.of(Delegate.HASHMAP, Delegate.ROCKSDB_INCREMENTAL)
                .flatMap(
                        delegate ->
                                Stream.of(
                                        Arguments.of(delegate, false),
                                        Arguments.of(delegate, true)));
    }

    @ParameterizedTest(name = "{0}, with a time to live at first: {1}")
    @MethodSource("changesOfMind")
    void timeToLiveSwitchedOnOrOff_isRefusedAsFlinkRefusesIt_andTheCheckpointStaysRestorable(
            Delegate delegate, boolean first) throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.state(1, hours(first)).update("v");
            task.checkpoint(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThatThrownBy(() -> task.state(1, hours(!first)))
                    .isInstanceOf(StateMigrationException.class);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.state(1, hours(first)).value()).isEqualTo("v");
        }
    }

    private static ValueStateDescriptor<String> hours(boolean timeToLive) {
        ValueStateDescriptor<String> descriptor = new ValueStateDescriptor<>("hours", String.class);
        if (timeToLive) {
            descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofHours(1)).build());
        }
        return descriptor;
    }
}
