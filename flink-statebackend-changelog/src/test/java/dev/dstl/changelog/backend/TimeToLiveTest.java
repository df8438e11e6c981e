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
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
}
