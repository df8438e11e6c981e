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
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the changelog learns of a materialization. */
class MaterializationLifecycleTest {

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
    void changelog_isToldTheSizeOfEachNewBase() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        assertThat(task.changelog().baseBytes()).isZero();
        task.begin(materializer);
        task.uploads.triggerAll();
        task.mailbox.runNext();

        assertThat(task.changelog().baseBytes())
                .isEqualTo(task.bases.current().snapshotBytes())
                .isPositive();
    }

    @Test
    void materializationThatFails_takesItsMarkInTheLogAlong_andOneThatSucceedsDoesNot()
            throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        InMemoryChangelogWriter writer = task.changelog();
        task.streams.fatal = true;
        task.begin(materializer);
        SequenceNumber end = writer.nextSequenceNumber();
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber(), end);
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.failed()).isEqualTo(1);
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber());

        task.streams.fatal = false;
        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        materializer.cancelRunning();
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber());

        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.bases.current().to()).isEqualTo(end);
        assertThat(writer.marks()).containsExactly(writer.initialSequenceNumber(), end);
    }
}
