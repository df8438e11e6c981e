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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Uploads of bases that fail, hang or are cancelled. */
class BaseUploadFaultsTest {

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
    void interruptedMaterialization_isNoFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 0));
        task.begin(materializer);

        materializer.cancelRunning();
        task.uploads.triggerAll();
        task.mailbox.runNext();

        assertThat(task.failures).isEmpty();
        assertThat(task.failed()).isZero();
        assertThat(task.clock.getActiveScheduledTasks()).hasSize(1);
    }

    @Test
    void uploadThatCannotStart_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer =
                task.materializer(
                        new MaterializationSettings(true, 10_000, 3),
                        upload -> {
                            throw new OutOfMemoryError("unable to create native thread");
                        });
        task.begin(materializer);

        assertThat(task.failed()).isEqualTo(1);
        assertThat(task.clock.getActiveScheduledTasks()).hasSize(1);
    }

    @Test
    void uploadThatDiesOfAFatalError_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.streams.fatal = true;
        task.begin(materializer);
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.failed()).isEqualTo(1);

        task.streams.fatal = false;
        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        task.uploads.triggerAll();
        task.mailbox.runNext();

        assertThat(task.bases.current().id()).isEqualTo(2);
    }

    @Test
    void threadThatDiesOfAFatalError_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.clock.fatalToWatch = true;
        task.begin(materializer);
        try {
            task.uploads.triggerAll();
        } catch (ThreadDeath expected) {
            // Fatal errors are passed on to the thread.
        }
        task.mailbox.runAll();
        assertThat(task.failed()).isEqualTo(1);
        assertThat(task.clock.getActiveScheduledTasks()).as("the next materialization").hasSize(1);
    }

    @Test
    void uploadThatHangsForever_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.streams.hangOnce();
        task.begin(materializer);
        Thread upload = task.uploadUntilItHangs();
        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        assertThat(task.failed()).isEqualTo(1);

        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        task.uploads.triggerAll();
        task.mailbox.runNext();
        assertThat(task.bases.current().id()).isEqualTo(2);

        task.streams.answer();
        upload.join();
        task.mailbox.runAll();
        assertThat(task.bases.current().id()).isEqualTo(2);
        assertThat(task.failed()).isEqualTo(1);
        assertThat(task.clock.getActiveScheduledTasks()).as("the next materialization").hasSize(1);
    }

    @Test
    void uploadThatMakesProgress_isNotGivenUp() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.streams.hangOnce();
        task.streams.progressFirst = true;
        task.begin(materializer);
        Thread upload = task.uploadUntilItHangs();
        task.clock.triggerScheduledTasks();
        assertThat(task.mailbox.size()).isZero();
        task.streams.answer();
        upload.join();
        task.mailbox.runNext();

        assertThat(task.bases.current().id()).isEqualTo(1);
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();
    }

    /** Otherwise nothing would end it if it hangs from then on. */
    @Test
    void uploadThatCannotBeWatchedAnyLonger_isAFailure_andTheNextOneFollows() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.streams.hangOnce();
        task.streams.progressFirst = true;
        task.begin(materializer);
        Thread upload = task.uploadUntilItHangs();
        task.clock.fatalToWatch = true;
        task.clock.triggerScheduledTasks();
        task.clock.fatalToWatch = false;
        assertThat(task.mailbox.size()).isEqualTo(1);
        task.mailbox.runNext();
        task.streams.answer();
        upload.join();

        assertThat(task.failed()).isEqualTo(1);
        assertThat(task.clock.getActiveScheduledTasks()).as("the next materialization").hasSize(1);
    }

    @Test
    void uploadThatHasEnded_isNotGivenUp_howeverLongTheTaskIsBusy() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(false, 0, 3));
        task.begin(materializer);
        task.uploads.triggerAll();

        task.clock.triggerScheduledTasks();
        task.clock.triggerScheduledTasks();
        task.mailbox.runAll();

        assertThat(task.bases.current().id()).isEqualTo(1);
        assertThat(task.uploads.numQueuedRunnables()).as("deletions").isZero();
        assertThat(task.clock.getActiveScheduledTasks()).isEmpty();
    }

    @Test
    void uploadWhoseCancellationHangs_holdsUpNeitherTheTaskNorTimers() throws Exception {
        Materializer materializer = task.materializer(new MaterializationSettings(true, 10_000, 3));
        task.streams.hangOnce();
        task.streams.closedBetweenCalls = true;
        task.begin(materializer);
        Thread upload = task.uploadUntilItHangs();
        CompletableFuture<Runnable> interrupting = new CompletableFuture<>();
        Thread interrupt = new Thread(() -> interrupting.join().run());
        task.interrupts = interrupting::complete;
        interrupt.start();
        materializer.cancelRunning();
        task.streams.awaitClosing();

        Thread timers = new Thread(task.clock::triggerScheduledTasks);
        timers.start();
        timers.join(10_000);
        boolean timersGoOn = !timers.isAlive();
        task.streams.answer();
        for (Thread thread : List.of(upload, interrupt, timers)) {
            thread.join();
        }
        assertThat(timersGoOn).isTrue();
    }

    /** With as many of them as there are threads, nothing would be uploaded any more. */
    @Test
    @Timeout(60)
    void uploadThatWasGivenUp_isInterrupted_soThatTheNextOneHasItsThread() throws Exception {
        ExecutorService oneThread = Executors.newSingleThreadExecutor();
        task.interrupts = interrupt -> new Thread(interrupt).start();
        task.streams.endsWhenInterrupted = true;
        Materializer materializer =
                task.materializer(new MaterializationSettings(true, 10_000, 3), oneThread);
        task.streams.hangOnce();
        task.begin(materializer);
        task.streams.awaitHanging();

        task.clock.triggerScheduledTasks();
        task.mailbox.runNext();
        assertThat(task.failed()).isEqualTo(1);
        task.clock.triggerScheduledTasks();
        while (task.bases.current().id() != 2) {
            task.mailbox.runNext();
        }
        oneThread.shutdown();
    }
}
