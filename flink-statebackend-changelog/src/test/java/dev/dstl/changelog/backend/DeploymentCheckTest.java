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

import dev.dstl.changelog.config.MisconfigurationException;
import java.io.File;
import java.nio.file.Path;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryStateChangelogStorage;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeploymentCheckTest {

    private static final String OPERATOR = "KeyedProcessOperator_1_(1/1)";

    @TempDir private Path directory;

    private final Configuration taskManager = new Configuration();
    private final Configuration task = new Configuration();

    @Test
    void storageLeftAtMemory_withADurableCheckpointDirectory_isMisuse() throws Exception {
        new StreamConfig(task).setCheckpointingEnabled(true);
        DeploymentCheck check = check(new InMemoryStateChangelogStorage(), fileSystem());

        assertThatThrownBy(check::storage)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessage(
                        "'state.changelog.storage: memory' keeps the changelog in memory and sends all of"
                                + " it to the JobManager with every checkpoint, though checkpoints"
                                + " go to a directory; set it to 'dstl' and"
                                + " 'state.changelog.dstl.dfs.base-path' to a directory that all"
                                + " TaskManagers reach, in the configuration of the TaskManagers.");
    }

    @Test
    void storageInMemory_isFineWhereCheckpointsAreInMemoryToo() throws Exception {
        new StreamConfig(task).setCheckpointingEnabled(true);

        assertThat(check(new InMemoryStateChangelogStorage(), new JobManagerCheckpointStorage()))
                .extracting(DeploymentCheck::storage)
                .isInstanceOf(InMemoryStateChangelogStorage.class);
    }

    @Test
    void storageInMemory_isFineWithoutCheckpoints() throws Exception {
        assertThat(check(new InMemoryStateChangelogStorage(), fileSystem()))
                .extracting(DeploymentCheck::storage)
                .isInstanceOf(InMemoryStateChangelogStorage.class);
    }

    @Test
    void unknownStorage_isMisuse() throws Exception {
        taskManager.setString("state.changelog.storage", "filesytem");
        DeploymentCheck check = check(null, fileSystem());

        assertThatThrownBy(check::storage)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessage(
                        "'state.changelog.storage: filesytem' names no storage that this"
                                + " TaskManager has; set it to 'dstl' in the configuration of the"
                                + " TaskManagers, and put dstl-flink-1.20-<version>.jar"
                                + " into their lib/.");
    }

    @Test
    void operatorThatIsMaterializedWithCheckpointsOnly_needsNoLogWithoutThem() throws Exception {
        String python = "ExternalPythonKeyedProcessOperator_1_(1/1)";
        StateChangelogStorage<?> storage = new InMemoryStateChangelogStorage();
        assertThat(check(storage, fileSystem()).needsLog(python)).isFalse();
        assertThat(check(storage, fileSystem()).needsLog(OPERATOR)).isTrue();

        new StreamConfig(task).setCheckpointingEnabled(true);

        assertThat(check(storage, fileSystem()).needsLog(python)).isTrue();
    }

    @Test
    void noStorageAtAll_whereEveryTaskManagerHasOne_isTheStateProcessor_whichNeedsNoLog()
            throws Exception {
        assertThat(check(null, fileSystem()).needsLog(OPERATOR)).isFalse();
        assertThat(check(new InMemoryStateChangelogStorage(), fileSystem()).needsLog(OPERATOR))
                .isTrue();

        taskManager.setString("state.changelog.storage", "filesytem");
        assertThat(check(null, fileSystem()).needsLog(OPERATOR)).isTrue();
    }

    @Test
    void localRecovery_needsTheFlag() throws Exception {
        DeploymentCheck check =
                new DeploymentCheck(
                        environment(
                                TestTaskStateManager.builder()
                                        .setLocalRecoveryConfig(
                                                LocalRecoveryConfig.backupAndRecoveryEnabled(
                                                        new org.apache.flink.runtime.state
                                                                .LocalSnapshotDirectoryProviderImpl(
                                                                new File[] {directory.toFile()},
                                                                new JobID(),
                                                                new org.apache.flink.runtime
                                                                        .jobgraph.JobVertexID(),
                                                                0)))
                                        .build(),
                                fileSystem()));
        assertThatThrownBy(check::localRecovery)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessage(
                        "Local recovery of a changelog backend needs 'state.changelog.enabled:"
                                + " true', found 'false'; set it beside the state backend, or"
                                + " switch local recovery off.");

        taskManager.setString("state.changelog.enabled", "true");
        check.localRecovery();
    }

    @Test
    void mergedFilesOfCheckpoints_areMisuse() throws Exception {
        DeploymentCheck check = check(null, fileSystem());
        check.fileMerging();

        taskManager.setString("execution.checkpointing.file-merging.enabled", "true");
        assertThatThrownBy(check::fileMerging)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessage(
                        "'execution.checkpointing.file-merging.enabled' is true, which DSTL does not"
                                + " support; set it to false for jobs with a changelog.");
    }

    @Test
    void misspeltKey_isMisuse() throws Exception {
        taskManager.setString("state.changelog.dstl.delgate", "hashmap");
        DeploymentCheck check = check(null, fileSystem());

        assertThatThrownBy(check::keys)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessage(
                        "'state.changelog.dstl.delgate' is set to 'hashmap', but there is no such"
                                + " key. Did you mean 'state.changelog.dstl.delegate'? Correct it,"
                                + " or remove it.");
    }

    @Test
    void keysOfBothModules_areKnown() throws Exception {
        taskManager.setString("state.changelog.dstl.materialize.num-threads", "2");
        taskManager.setString("state.changelog.dstl.dfs.base-path", "file:/tmp/log");
        taskManager.setString("state.changelog.dstl.inline-threshold", "1 kb");

        check(null, fileSystem()).keys();
    }

    @Test
    void misuse_isNotRetriedByRestarts() {
        assertThat(ThrowableClassifier.getThrowableType(new MisconfigurationException("x")))
                .isEqualTo(ThrowableType.NonRecoverableError);
    }

    @Test
    void forst_whichHasNoCanonicalSnapshots_isMisuse() throws Exception {
        DeploymentCheck check = check(null, fileSystem());

        assertThatThrownBy(() -> check.delegate("org.apache.flink.state.forst.ForStStateBackend"))
                .isInstanceOf(MisconfigurationException.class)
                .hasMessage(
                        "'state.backend.type' is forst (org.apache.flink.state.forst.ForStStateBackend),"
                                + " which cannot be the delegate of a changelog: a rescaled job could"
                                + " not be restored; use rocksdb, or set 'state.changelog.enabled:"
                                + " false'.");
    }

    private CheckpointStorage fileSystem() {
        return new FileSystemCheckpointStorage(directory.toUri());
    }

    private DeploymentCheck check(
            @Nullable StateChangelogStorage<?> storage, CheckpointStorage checkpoints)
            throws Exception {
        return new DeploymentCheck(
                environment(
                        TestTaskStateManager.builder().setStateChangelogStorage(storage).build(),
                        checkpoints));
    }

    private MockEnvironment environment(
            TestTaskStateManager taskStateManager, CheckpointStorage checkpoints) throws Exception {
        MockEnvironment environment =
                new MockEnvironmentBuilder()
                        .setTaskStateManager(taskStateManager)
                        .setTaskConfiguration(task)
                        .setTaskManagerRuntimeInfo(new TestingTaskManagerRuntimeInfo(taskManager))
                        .build();
        environment.setCheckpointStorageAccess(checkpoints.createCheckpointStorage(new JobID()));
        return environment;
    }
}
