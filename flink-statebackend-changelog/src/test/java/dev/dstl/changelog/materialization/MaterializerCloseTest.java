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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.fixture.Delegate;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Materializations of tasks that end. */
class MaterializerCloseTest {

    private MaterializedTask task;

    @BeforeEach
    void startTask() throws Exception {
        task = MaterializedTask.over(Delegate.Kind.HASH_MAP);
    }

    @AfterEach
    void closeTask() throws Exception {
        task.close();
    }

    @Test
    void closed_neitherStartsNorAppliesAnything() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10, 3));
        task.begin(materializer);

        materializer.close();
        materializer.close();
        task.uploads.triggerAll();
        task.mailbox.runAll();
        materializer.trigger();
        task.mailbox.runAll();

        assertThat(task.bases.current().id()).isZero();
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();
        assertThat(task.failures).isEmpty();
    }

    @Test
    void endedTask_isNotDisturbedByAnUploadThatEndsLater() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10, 0));
        task.begin(materializer);
        task.mailbox.close();

        task.uploads.triggerAll();
        materializer.trigger();

        assertThat(task.failures).isEmpty();
        assertThat(task.mailbox.size()).isZero();
    }

    @Test
    void taskThatEndsAsAMaterializationBegins_isNoFailure() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10, 0));
        task.update();
        task.whenASnapshotStarts =
                () -> {
                    materializer.close();
                    IOUtils.closeQuietly(task.job.backend());
                };
        materializer.trigger();
        task.mailbox.runAll();

        assertThat(task.failed()).isZero();
        assertThat(task.uploads.numQueuedRunnables()).isZero();
        assertThat(task.failures).isEmpty();
    }

    /** The thread that cancels a task closes its backend. */
    @Test
    void closedWhileASnapshotStarts_deletesIt() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10, 3));
        task.update();
        task.whenASnapshotStarts = materializer::close;
        materializer.trigger();
        task.mailbox.runAll();

        assertThat(task.uploads.numQueuedRunnables()).as("deletions").isEqualTo(1);
        assertThat(task.failed()).isZero();
        assertThat(task.failures).isEmpty();
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void closedAfterTheUpload_deletesIt_thoughTheTaskNeverHearsOfIt() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10, 3));
        task.begin(materializer);
        task.uploads.triggerAll();

        materializer.close();

        assertThat(task.uploads.numQueuedRunnables()).as("deletions").isEqualTo(1);
    }
}
