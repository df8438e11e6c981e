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

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.BuiltInChangelog;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryStateChangelogStorage;

/** How Flink's built-in changelog can be stored. */
enum BuiltInLog {
    FILES {
        @Override
        StateChangelogStorage<?> create(Path directory) throws Exception {
            return BuiltInChangelog.files(directory, new Configuration());
        }
    },
    COMPRESSED_FILES {
        @Override
        StateChangelogStorage<?> create(Path directory) throws Exception {
            Configuration configuration = new Configuration();
            configuration.setString("state.changelog.dstl.dfs.compression.enabled", "true");
            return BuiltInChangelog.files(directory, configuration);
        }
    },
    /** Many change sets in a file, many files in a handle. */
    PREEMPTIVE_FILES {
        @Override
        StateChangelogStorage<?> create(Path directory) throws Exception {
            Configuration configuration = new Configuration();
            configuration.setString("state.changelog.dstl.dfs.compression.enabled", "true");
            configuration.setString(
                    "state.changelog.dstl.dfs.preemptive-persist-threshold", "300 b");
            return BuiltInChangelog.files(directory, configuration);
        }
    },
    MEMORY {
        @Override
        StateChangelogStorage<?> create(Path directory) {
            return new InMemoryStateChangelogStorage();
        }

        @Override
        String identifier() {
            return "memory";
        }
    },
    /** DSTL's changelog under Flink's changelog state backend. */
    DSTL_SEGMENTS {
        @Override
        StateChangelogStorage<?> create(Path directory) {
            return LogStorage.DSTL.create(directory);
        }

        @Override
        String identifier() {
            return "dstl";
        }
    };

    abstract StateChangelogStorage<?> create(Path directory) throws Exception;

    String identifier() {
        return "filesystem";
    }

    /** Starts a task with all key groups whose changelog is stored below a directory. */
    TestTask start(
            Path directory,
            Delegate delegate,
            FakeJobManager jobManager,
            List<KeyedStateHandle> restored)
            throws Exception {
        return TestTask.start(
                directory,
                BuiltInChangelog.over(TestTask.delegate(directory, delegate)),
                TestTaskStateManager.builder()
                        .setStateChangelogStorage(create(directory.resolve("built-in")))
                        .build(),
                TestTask.checkpoints(directory),
                jobManager,
                KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1),
                restored);
    }

    /** The storages of the changelogs in a handle. */
    static Set<String> storagesOf(ChangelogStateBackendHandle handle) {
        return handle.getNonMaterializedStateHandles().stream()
                .map(ChangelogStateHandle::getStorageIdentifier)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
