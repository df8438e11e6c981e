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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.delegate.CompactionBackOff;
import dev.dstl.changelog.delegate.DelegateFlush;
import dev.dstl.changelog.fixture.Delegate;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Another thread flushes what the delegate holds in memory before its snapshot is taken. */
class MaterializationFlushTest {

    private MaterializedTask task;

    @BeforeEach
    void startTask() throws Exception {
        task = MaterializedTask.over(Delegate.Kind.ROCKS_DB);
        for (int key = 0; key < 100_000; key++) {
            task.update(key);
        }
    }

    @AfterEach
    void closeTask() throws Exception {
        task.close();
    }

    @Test
    void whatTheDelegateHoldsInMemory_isFlushedByAnotherThread_beforeTheSnapshot()
            throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        materializer.trigger();
        materializer.trigger();
        task.mailbox.runAll();
        assertThat(task.started()).isZero();
        assertThat(task.uploads.numQueuedRunnables()).isEqualTo(1);

        task.uploads.triggerAll();
        assertThat(DelegateFlush.of(task.job.backend(), new CompactionBackOff()))
                .as("nothing is left to flush")
                .isNull();
        task.mailbox.runAll();
        task.uploads.triggerAll();
        task.mailbox.runAll();

        assertThat(task.started()).isEqualTo(1);
        assertThat(task.bases.current().id()).isEqualTo(1);
    }

    @Test
    void closedWhileFlushing_beginsNothing() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10, 3));
        materializer.trigger();
        task.mailbox.runNext();

        materializer.close();
        task.uploads.triggerAll();
        task.mailbox.runAll();

        assertThat(task.started()).isZero();
        assertThat(task.uploads.numQueuedRunnables()).isZero();
        assertThat(task.failures).isEmpty();
    }

    @Test
    void delegateThatIsGoneWhenItIsToBeFlushed_isLeftAlone() throws Exception {
        DelegateFlush flush = DelegateFlush.of(task.job.backend(), new CompactionBackOff());
        task.close();

        assertThatThrownBy(flush::run).isInstanceOf(IOException.class);
        startTask();
    }

    @Test
    void flushWithoutAThread_isLeftToTheSnapshot() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Materializer materializer =
                task.materializer(
                        new MaterializationSettings(false, 0, 3),
                        flush -> {
                            if (calls.incrementAndGet() == 1) {
                                throw new OutOfMemoryError("unable to create native thread");
                            }
                            task.uploads.execute(flush);
                        });
        materializer.trigger();
        task.mailbox.runAll();
        task.uploads.triggerAll();
        task.mailbox.runAll();

        assertThat(task.bases.current().id()).isEqualTo(1);
    }
}
