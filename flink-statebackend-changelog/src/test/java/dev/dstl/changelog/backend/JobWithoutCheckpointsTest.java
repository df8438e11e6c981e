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
import static org.awaitility.Awaitility.await;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.log.DstlStorage;
import dev.dstl.log.testing.FileTree;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job whose checkpoints are not periodic, and which may run for long before the first one. */
class JobWithoutCheckpointsTest {

    @TempDir private Path directory;

    /**
     * @param full whether the next checkpoint must be full, as after a canonical savepoint or a
     *     change of a state class
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void newBase_deletesTheSegmentsBeforeIt_ifNoCheckpointHasBegun(boolean full) throws Exception {
        FakeJobManager jobManager = new FakeJobManager();
        if (full) {
            try (TestTask task = start(jobManager)) {
                task.versioned(1, 1).update("before");
                task.checkpoint(1);
            }
        }
        List<Path> restored = segments();
        try (TestTask task = start(jobManager)) {
            if (full) {
                // A migration makes the next checkpoint a full one.
                assertThat(task.versioned(1, 2).value()).isEqualTo("before");
            }
            for (int round = 0; round < 3; round++) {
                task.value(1).update("one");
                await().until(
                                () -> {
                                    task.value(2).update("two");
                                    return segments().size() > restored.size();
                                });

                assertThat(task.materialize()).isTrue();

                await().until(() -> segments().equals(restored));
            }
            task.value(3).update("three");
            task.checkpoint(2);
        }
        try (TestTask task = start(jobManager)) {
            assertThat(task.values(4)).containsExactly(null, "one", "two", "three");
        }
    }

    private TestTask start(FakeJobManager jobManager) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.base-path", log().toUri().toString());
        configuration.setString("state.changelog.dstl.inline-threshold", "0");
        configuration.setString("state.changelog.dstl.upload.max-age", "10 ms");
        return TestTask.start(
                directory,
                new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP)),
                TestTaskStateManager.builder()
                        .setStateChangelogStorage(
                                new DstlStorage(
                                        new JobID(), configuration, new UnregisteredMetricsGroup()))
                        .build(),
                TestTask.checkpoints(directory),
                jobManager,
                jobManager.latest());
    }

    private Path log() {
        return directory.resolve("log");
    }

    private List<Path> segments() throws Exception {
        return FileTree.files(log());
    }
}
