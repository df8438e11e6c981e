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
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendMigrationTestBase;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Flink's suite for changed serializers. */
@ExtendWith(ParameterizedTestExtension.class)
public class MigrationTest extends StateBackendMigrationTestBase<StateBackend> {

    /** The delegate. */
    @Parameter public Delegate delegate;

    /** The changelog storage. */
    @Parameter(1)
    public LogStorage storage;

    @TempDir private Path directory;

    /** Every delegate with every storage. */
    @Parameters(name = "{0} over {1}")
    public static List<Object[]> combinations() {
        List<Object[]> combinations = new ArrayList<>();
        for (Delegate delegate : Delegate.values()) {
            for (LogStorage storage : LogStorage.values()) {
                combinations.add(new Object[] {delegate, storage});
            }
        }
        return combinations;
    }

    @Override
    protected StateBackend getStateBackend() {
        return new StorageInjection(
                new ChangelogStateBackend(delegate.create(directory.resolve("state"))),
                storage.taskStateManager(directory.resolve("log")),
                () -> false);
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() {
        return new FileSystemCheckpointStorage(directory.resolve("checkpoints").toUri());
    }
}
