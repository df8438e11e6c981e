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
import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.log.DstlStorage;
import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.SerializedThrowable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Effect on the job of a task that cannot work as deployed. */
class MisuseTest {

    private static final String SENTENCE =
            "'state.changelog.dstl.dfs.base-path' is 's4://bucket/log', for which there is no file"
                    + " system: ";

    @TempDir Path directory;
    private final FakeJobManager jobManager = new FakeJobManager();

    @Test
    void misuse_endsAJobThatStarts_alsoAsTheJobManagerSeesIt() {
        assertThatThrownBy(this::startWithoutFileSystem)
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageStartingWith(SENTENCE)
                .hasNoCause()
                .satisfies(
                        thrown ->
                                assertThat(typeAtTheJobManager(thrown))
                                        .isEqualTo(ThrowableType.NonRecoverableError));
    }

    @Test
    void misuse_doesNotEndAJobThatHasCheckpoints_whichFlinkWouldDelete() throws Exception {
        try (TestTask task =
                TestTask.start(directory, Delegate.HASHMAP, LogStorage.DSTL, jobManager)) {
            task.state(1, TestTask.VALUE).update("a");
            task.checkpoint(1);
        }
        assertThatThrownBy(this::startWithoutFileSystem)
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageStartingWith(SENTENCE)
                .hasMessageEndingWith(
                        "The job may have checkpoints and is therefore restarted until this is"
                                + " corrected, as far as its restart strategy allows.")
                .satisfies(
                        thrown ->
                                assertThat(typeAtTheJobManager(thrown))
                                        .isEqualTo(ThrowableType.RecoverableError));
    }

    private void startWithoutFileSystem() throws Exception {
        TestTask.start(
                directory,
                new ChangelogStateBackend(TestTask.delegate(directory, Delegate.HASHMAP)),
                withoutFileSystem(),
                TestTask.checkpoints(directory),
                jobManager,
                jobManager.latest());
    }

    private static TaskStateManager withoutFileSystem() {
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.base-path", "s4://bucket/log");
        return TestTaskStateManager.builder()
                .setStateChangelogStorage(
                        new DstlStorage(new JobID(), configuration, new UnregisteredMetricsGroup()))
                .build();
    }

    private static ThrowableType typeAtTheJobManager(Throwable thrown) throws Exception {
        Throwable sent =
                InstantiationUtil.clone(new SerializedThrowable(thrown))
                        .deserializeError(MisuseTest.class.getClassLoader());
        return ThrowableClassifier.getThrowableType(sent);
    }
}
