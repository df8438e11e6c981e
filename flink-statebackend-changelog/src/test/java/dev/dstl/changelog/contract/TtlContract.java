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

import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.reflect.Method;
import java.nio.file.Path;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.runtime.state.ttl.StateBackendTestContext;
import org.apache.flink.runtime.state.ttl.TtlStateTestBase;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Flink's suite for state with a time to live. */
public abstract class TtlContract extends TtlStateTestBase {

    private final Delegate delegate;
    private final LogStorage storage;

    @TempDir private Path directory;

    private String test = "";

    /**
     * Some of Flink's tests need to be told apart, and they cannot be overridden. What is cleaned
     * up when all state is written is cleaned up by a savepoint; a checkpoint that is only a
     * changelog writes what happened. And a test that looks into Flink's heap state finds a logged
     * one; see {@link dev.dstl.changelog.backend.TimeToLiveTest} instead.
     *
     * <p>In Flink 2.1 a third one requires that each backend refuses what RocksDB converts since
     * then, which {@code TimeToLiveTest} covers too.
     */
    @BeforeEach
    void rememberTest(TestInfo info) {
        test = info.getTestMethod().map(Method::getName).orElseThrow();
        assumeThat(
                        EnvironmentInformation.getVersion().startsWith("2.1.")
                                && delegate.convertsTimeToLive()
                                && test.equals("testRestoreTtlAndRegisterNonTtlStateCompatFailure"))
                .isFalse();
    }

    TtlContract(Delegate delegate, LogStorage storage) {
        this.delegate = delegate;
        this.storage = storage;
    }

    @Override
    protected StateBackendTestContext createStateBackendTestContext(TtlTimeProvider time) {
        StateBackend backend =
                new StorageInjection(
                        new ChangelogStateBackend(delegate.create(directory.resolve("state"))),
                        storage.taskStateManager(directory.resolve("log")),
                        () -> test.endsWith("WithSnapshotCleanup"));
        return new StateBackendTestContext(time) {
            @Override
            protected StateBackend createStateBackend() {
                return backend;
            }

            @Override
            protected CheckpointStorage createCheckpointStorage() {
                return new JobManagerCheckpointStorage();
            }
        };
    }

    @Override
    protected boolean incrementalCleanupSupported() {
        return delegate == Delegate.HASHMAP && !test.equals("testIncrementalCleanupWholeState");
    }
}
