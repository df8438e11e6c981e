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

import java.nio.file.Path;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.HashMapStateBackendTest;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.io.TempDir;

/** Flink's suite for the heap backend, on Flink's in-memory changelog. */
public class HashMapOverMemoryTest extends HashMapStateBackendTest {

    @TempDir private Path logs;

    /** The changelog storage. */
    protected LogStorage storage() {
        return LogStorage.MEMORY;
    }

    @Override
    protected ConfigurableStateBackend getStateBackend() {
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
}
