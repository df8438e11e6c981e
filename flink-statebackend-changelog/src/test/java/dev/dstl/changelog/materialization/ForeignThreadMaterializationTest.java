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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** In a task whose state another thread changes, which pauses only when a checkpoint begins. */
class ForeignThreadMaterializationTest {

    private MaterializedTask task;

    @BeforeEach
    void startTask() throws Exception {
        task = MaterializedTask.over(Delegate.Kind.HASH_MAP);
        task.onlyWithCheckpoints = true;
    }

    @AfterEach
    void closeTask() throws Exception {
        task.close();
    }

    @Test
    void materialization_beginsOnlyWithACheckpoint_ifAnotherThreadUsesTheState() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        materializer.start();
        task.update();
        materializer.checkpointBegun();
        assertThat(task.uploads.numQueuedRunnables()).as("not yet due").isZero();

        task.clock.triggerScheduledTasks();
        materializer.trigger();
        assertThat(task.mailbox.size()).isZero();
        assertThat(task.uploads.numQueuedRunnables()).isZero();

        materializer.checkpointBegun();
        materializer.checkpointBegun();
        assertThat(task.uploads.numQueuedRunnables()).isEqualTo(1);
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.bases.current().id()).isEqualTo(1);
        assertThat(task.delayMillis()).isBetween(9_000L, 10_000L);
    }

    @Test
    void materialization_thatIsTriggeredAsOneBegins_doesNotDisturbIt() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.update();
        materializer.trigger();
        task.whenASnapshotStarts = materializer::trigger;

        materializer.checkpointBegun();

        assertThat(task.uploads.numQueuedRunnables()).isEqualTo(1);
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.bases.current().id()).isEqualTo(1);
    }

    @Test
    void materialization_thatMustWaitForAConfirmation_beginsWithTheCheckpointAfterIt()
            throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.truncation.checkpointBegun();
        for (int base = 1; base <= 2; base++) {
            task.update();
            materializer.trigger();
            materializer.checkpointBegun();
            task.uploads.triggerAll();
            task.mailbox.runNext();
        }
        task.bases.confirm(1);
        task.update();
        materializer.trigger();
        materializer.checkpointBegun();
        assertThat(task.started()).isEqualTo(2);

        task.bases.confirm(2);
        materializer.checkpointBegun();

        assertThat(task.started()).isEqualTo(3);
    }

    @Test
    void materialization_thatWaitsForACheckpoint_endsWithTheTask() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.update();
        materializer.trigger();
        materializer.close();

        materializer.checkpointBegun();

        assertThat(task.uploads.numQueuedRunnables()).isZero();
    }
}
