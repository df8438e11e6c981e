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

package dev.dstl.changelog.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackendTest;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.io.TempDir;

/** Flink's suite for RocksDB, full and incremental, on Flink's in-memory changelog. */
public class RocksDbOverMemoryTest extends EmbeddedRocksDBStateBackendTest {

    @TempDir private Path logs;

    /** The changelog storage. */
    protected LogStorage storage() {
        return LogStorage.MEMORY;
    }

    @Override
    protected ConfigurableStateBackend getStateBackend() throws IOException {
        return new ChangelogStateBackend((StateBackend) super.getStateBackend());
    }

    @Override
    protected TestTaskStateManager getTestTaskStateManager() {
        return storage().taskStateManager(logs);
    }

    /** A checkpoint writes no stream that Flink's tests could block. */
    @Override
    protected boolean snapshotUsesStreamFactory() {
        return false;
    }

    /** Records are verified when the job registers the state, not during the restore. */
    @Override
    protected boolean supportsMetaInfoVerification() {
        return false;
    }

    /** Flink's restore metrics do not count replayed state changes. */
    @Override
    protected boolean checkMetrics() {
        return false;
    }

    /**
     * Flink's test looks for RocksDB's files in every checkpoint; those of DSTL are in the base,
     * whose sharing has its own test.
     */
    @Override
    @TestTemplate
    public void testSharedIncrementalStateDeRegistration() throws Exception {
        CheckpointableKeyedStateBackend<Integer> backend =
                createKeyedBackend(IntSerializer.INSTANCE);
        try {
            ValueState<String> state =
                    backend.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new ValueStateDescriptor<>("state", String.class));
            backend.setCurrentKey(1);
            state.update("value");

            KeyedStateHandle handle =
                    runSnapshot(
                            backend.snapshot(
                                    1L,
                                    1L,
                                    createStreamFactory(),
                                    CheckpointOptions.forCheckpointWithDefaultLocation()),
                            new SharedStateRegistryImpl());

            assertThat(((ChangelogStateBackendHandle) handle).getMaterializedStateHandles())
                    .isEmpty();
            assertThat(((ChangelogStateBackendHandle) handle).getNonMaterializedStateHandles())
                    .hasSize(1);
        } finally {
            IOUtils.closeQuietly(backend);
            backend.dispose();
        }
    }
}
