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

/** When materializations begin, and how many at a time. */
class MaterializationScheduleTest {

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
    void firstMaterialization_isStaggered_andTheNextOnesFollowTheInterval() throws Exception {
        MaterializationSettings settings = new MaterializationSettings(true, 10_000, 3);
        Materializer materializer = task.materializer(settings);
        materializer.start();
        assertThat(task.delayMillis())
                .isBetween(
                        settings.initialDelayMillis("subtask") - 1_000,
                        settings.initialDelayMillis("subtask"));

        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();

        assertThat(task.completed()).as("nothing to do is done as well").isEqualTo(1);
        assertThat(task.delayMillis()).isBetween(9_000L, 10_000L);
    }

    @Test
    void timerThatCannotBeScheduledAtTheStart_failsNoRestore_andFollowsWithACheckpoint()
            throws Exception {
        MaterializationSettings settings = new MaterializationSettings(true, 10_000, 3);
        Materializer materializer = task.materializer(settings);
        task.clock.refuseTimers(2);
        materializer.start();
        materializer.checkpointBegun();
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();

        materializer.checkpointBegun();
        materializer.checkpointBegun();

        assertThat(task.delayMillis())
                .as("when it would have been")
                .isBetween(
                        settings.initialDelayMillis("subtask") - 2_000,
                        settings.initialDelayMillis("subtask"));
        task.update();
        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.bases.current().id()).isEqualTo(1);
    }

    @Test
    void timerThatCannotBeScheduledAfterAFailedUpload_failsNoTask_andFollowsWithACheckpoint()
            throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.streams.fatal = true;
        task.begin(materializer);
        task.uploads.triggerAll();
        task.clock.refuseTimers(1);
        task.mailbox.runNext();
        task.streams.fatal = false;
        assertThat(task.failed()).isEqualTo(1);
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();

        materializer.checkpointBegun();

        assertThat(task.delayMillis()).isBetween(8_000L, 10_000L);
        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.bases.current().id()).isEqualTo(2);
        assertThat(task.failures).isEmpty();
    }

    @Test
    void timerThatCannotBeScheduled_followsWithTheNextTrigger() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.clock.refuseTimers(1);
        materializer.start();
        task.begin(materializer);
        materializer.checkpointBegun();
        assertThat(task.clock.getActiveScheduledTasks()).as("it runs").isEmpty();
        task.uploads.triggerAll();
        task.mailbox.runNext();

        assertThat(task.bases.current().id()).isEqualTo(1);
        assertThat(task.delayMillis()).isBetween(8_000L, 10_000L);
    }

    @Test
    void timerThatCannotBeScheduled_doesNotFollowOnceTheTaskHasEnded() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.clock.refuseTimers(1);
        materializer.start();
        materializer.close();

        materializer.checkpointBegun();

        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void withoutAPeriod_nothingIsScheduled_butATriggerWorks() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 0, 3));
        materializer.start();
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();
        task.begin(materializer);
        task.uploads.triggerAll();
        task.mailbox.runNext();

        assertThat(task.bases.current().id()).isEqualTo(1);
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void uploads_runOnTheirOwnThreads_andOneAtATime() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.update();
        materializer.trigger();
        materializer.trigger();
        task.mailbox.runAll();

        assertThat(task.uploads.numQueuedRunnables()).isEqualTo(1);
        assertThat(task.started()).isEqualTo(1);
    }

    @Test
    void early_materializationsPause_onlyAfterOneThatHasEnded() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.update();
        materializer.trigger();
        task.mailbox.runAll();
        assertThat(task.throttle.hasTime()).as("it runs").isTrue();

        task.uploads.triggerAll();
        task.mailbox.runAll();

        assertThat(task.throttle.hasTime()).isFalse();
    }

    @Test
    void failedMaterialization_takesTimeAsWell() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.streams.fatal = true;
        task.update();
        materializer.trigger();
        task.mailbox.runAll();
        try {
            task.uploads.triggerAll();
        } catch (ThreadDeath expected) {
            // Fatal errors are passed on to the thread.
        }
        task.mailbox.runAll();

        assertThat(task.failed()).isEqualTo(1);
        assertThat(task.throttle.hasTime()).isFalse();
    }
}
