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
import dev.dstl.log.testing.FileTree;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.queryablestate.KvStateID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A checkpoint that Flink cancels before it is sent leaves no files, while one that may have been
 * sent keeps all of them, whatever notifications the task receives.
 */
@Timeout(60)
class CancelledCheckpointTest {

    /** Too long to travel inline. */
    private static final String LONG = "x".repeat(1 << 16);

    @TempDir private Path directory;

    @Test
    void checkpointCancelledWhileItsLogIsUploaded_leavesNoSegment() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update(LONG);
            RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint = task.trigger(1);
            checkpoint.cancel(true);
        }
        CommonTestUtils.waitUntilCondition(() -> segments().isEmpty());
    }

    @Test
    void checkpointDiscardedBeforeItIsSent_leavesNoSegment() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update(LONG);
            KeyedStateHandle unsent = TestTask.finish(task.trigger(1));
            assertThat(segments()).hasSize(1);
            unsent.discardState();
            assertThat(segments()).as("the next checkpoint needs it").hasSize(1);
        }
        CommonTestUtils.waitUntilCondition(() -> segments().isEmpty());
    }

    @Test
    void checkpointThatTheJobManagerHas_keepsItsSegment_evenIfItIsDiscardedThere()
            throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update(LONG);
            ChangelogStateBackendHandle sent = task.acknowledge(1);
            sent.discardState();
            task.changelog().notifyCheckpointAborted(1);
        }
        assertThat(segments()).hasSize(1);
    }

    @Test
    void baseThatOnlyADiscardedCheckpointHad_isDeletedWithTheTask() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update(LONG);
            assertThat(task.materialize()).isTrue();
            KeyedStateHandle unsent = TestTask.finish(task.trigger(1));
            assertThat(snapshots()).hasSize(1);
            unsent.discardState();
        }
        CommonTestUtils.waitUntilCondition(() -> snapshots().isEmpty());
    }

    @Test
    void delegateThatCannotBeDisposed_leavesNoSegment() throws Exception {
        TestTask task =
                TestTask.start(
                        directory,
                        new ChangelogStateBackend(new UndisposableStateBackend()),
                        LogStorage.DSTL.taskStateManager(directory.resolve("log")),
                        TestTask.checkpoints(directory),
                        new FakeJobManager(),
                        List.of());
        task.state(1, queryable()).update(LONG);
        TestTask.finish(task.trigger(1)).discardState();
        assertThat(segments()).hasSize(1);

        assertThatThrownBy(task.changelog()::dispose).hasMessage("Cannot be unregistered");

        CommonTestUtils.waitUntilCondition(() -> segments().isEmpty());
        task.close();
    }

    @SuppressWarnings("deprecation") // queryable state is deprecated in Flink 1.20
    private static ValueStateDescriptor<String> queryable() {
        ValueStateDescriptor<String> descriptor =
                new ValueStateDescriptor<>("queryable", String.class);
        descriptor.setQueryable("queryable");
        return descriptor;
    }

    /** Its backends fail when they are disposed with queryable state. */
    private static final class UndisposableStateBackend extends HashMapStateBackend {

        private static final long serialVersionUID = 1L;

        @Override
        public <K> AbstractKeyedStateBackend<K> createKeyedStateBackend(
                KeyedStateBackendParameters<K> parameters) throws IOException {
            KvStateRegistry registry =
                    new KvStateRegistry() {
                        @Override
                        public void unregisterKvState(
                                JobID jobId,
                                JobVertexID vertex,
                                KeyGroupRange keyGroups,
                                String name,
                                KvStateID id) {
                            throw new IllegalStateException("Cannot be unregistered");
                        }
                    };
            return super.createKeyedStateBackend(
                    new KeyedStateBackendParametersImpl<>(
                            parameters.getEnv(),
                            parameters.getJobID(),
                            parameters.getOperatorIdentifier(),
                            parameters.getKeySerializer(),
                            parameters.getNumberOfKeyGroups(),
                            parameters.getKeyGroupRange(),
                            registry.createTaskRegistry(
                                    parameters.getJobID(), new JobVertexID(1, 1)),
                            parameters.getTtlTimeProvider(),
                            parameters.getMetricGroup(),
                            parameters.getStateHandles(),
                            parameters.getCancelStreamRegistry()));
        }
    }

    @Test
    void checkpoint_isFlinksOwnHandleWhereverItIsSent() throws Exception {
        try (TestTask task = TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL)) {
            task.value(1).update("one");
            ChangelogStateBackendHandle sent =
                    (ChangelogStateBackendHandle) TestTask.finish(task.trigger(1));
            ChangelogStateBackendHandle received =
                    InstantiationUtil.deserializeObject(
                            InstantiationUtil.serializeObject(sent), getClass().getClassLoader());
            assertThat(received.getClass()).isEqualTo(ChangelogStateBackendHandleImpl.class);
            assertThat(received).usingRecursiveComparison().isEqualTo(sent);
        }
    }

    private List<Path> segments() throws IOException {
        return FileTree.files(directory.resolve("log"));
    }

    private List<Path> snapshots() throws IOException {
        return FileTree.files(directory.resolve("checkpoints"));
    }
}
