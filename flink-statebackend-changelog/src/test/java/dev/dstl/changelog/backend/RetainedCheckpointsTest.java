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
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JobManager that retains several checkpoints reports them as subsumed late, or never. */
class RetainedCheckpointsTest {

    private static final int RETAINED = 3;

    @TempDir private Path directory;

    @Test
    void completeCheckpointWithANewBase_freesTheChangelogBefore_thoughNoneIsSubsumed()
            throws Exception {
        try (TestTask task = start()) {
            for (int checkpoint = 1; checkpoint <= RETAINED; checkpoint++) {
                task.value(checkpoint).update("value");
                complete(task, checkpoint);
            }
            await().until(() -> !copies().isEmpty());
            assertThat(task.materialize()).isTrue();

            complete(task, RETAINED + 1);

            await().untilAsserted(() -> assertThat(copies()).isEmpty());
            task.value(0).update("later");
            complete(task, RETAINED + 2);
        }
    }

    private static void complete(TestTask task, long checkpointId) throws Exception {
        task.acknowledge(checkpointId);
        task.changelog().notifyCheckpointComplete(checkpointId);
    }

    /** Names of the local copies of segments. */
    private List<String> copies() {
        try (Stream<Path> files = Files.walk(directory.resolve("local"))) {
            return files.filter(Files::isRegularFile)
                    .map(Path::toString)
                    .filter(file -> file.contains("dstl_jid_") && !file.endsWith(".lock"))
                    .collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private TestTask start() throws Exception {
        JobID job = new JobID();
        LocalRecoveryConfig local =
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(
                                new File[] {directory.resolve("local/slot").toFile()},
                                job,
                                new JobVertexID(),
                                0));
        Configuration configuration = new Configuration();
        configuration.setString(
                "state.changelog.dstl.dfs.base-path", directory.resolve("log").toUri().toString());
        configuration.setString("state.changelog.dstl.inline-threshold", "0");
        return TestTask.start(
                directory,
                new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP)),
                TestTaskStateManager.builder()
                        .setStateChangelogStorage(
                                new DstlStorage(
                                        job, configuration, new UnregisteredMetricsGroup(), local))
                        .setLocalRecoveryConfig(local)
                        .build(),
                TestTask.checkpoints(directory),
                new FakeJobManager(),
                List.of());
    }
}
